# Empty waiting loops of a preprocessed slave file let the emulator go on: `while (reply != 1);` gets the condition
# `emulated_look() && (reply != 1) && emulated_spin()`, and so do `for (; reply != 1; );` and `do ; while (reply != 1);`, over however many lines.
# The condition of a `do` with a body is none of them, nor one that changes something by itself. Lines stay where they are.

function is_word(t) { return t ~ /^[A-Za-z_$]/ }

# The token that closes what `i` opens; statements within `({ ... })` are looked through on the way.
function close_of(i,    ends) {
  ends = token[i] == "(" ? ")" : "]"
  for (i++; i <= n && token[i] != ends; i++) {
    if (token[i] == "(" || token[i] == "[")
      i = close_of(i)
    else if (token[i] == "{")
      i = block(i) - 1
  }
  return i
}

function block(i) {
  for (i++; i <= n && token[i] != "}"; )
    i = statement(i)
  return i + 1
}

# Whether the tokens between the two change something: then the loop is not one that waits.
function changes(from, to,    i) {
  for (i = from + 1; i < to; i++)
    if (token[i] == "++" || token[i] == "--" || token[i] == "=" || token[i] ~ /^([-+*\/%&|^]|<<|>>)=$/)
      return 1
  return 0
}

function waits(from, to) {
  if (to > from + 1 && !changes(from, to)) {
    behind[from] = behind[from] " emulated_look() && ("
    before[to] = ") && emulated_spin()" before[to]
  }
}

# What comes after an empty statement at `i`, or 0.
function empty(i) { return token[i] == ";" ? i + 1 : token[i] == "{" && token[i + 1] == "}" ? i + 2 : 0 }

function loop(i,    open, end, k, first, second) {
  open = i + 1
  end = close_of(open)
  if (!empty(end + 1))
    return statement(end + 1)
  if (token[i] == "while")
    waits(open, end)
  else {
    for (k = open + 1; k < end; k++) {
      if (token[k] == "(" || token[k] == "[")
        k = close_of(k)
      else if (token[k] == ";" && !first)
        first = k
      else if (token[k] == ";")
        second = k
    }
    if (second == end - 1)
      waits(first, second)
  }
  return empty(end + 1)
}

# The token after the statement or the declaration at `i`.
function statement(i,    j, end, called) {
  if (token[i] == "{")
    return block(i)
  if ((token[i] == "while" || token[i] == "for") && token[i + 1] == "(")
    return loop(i)
  if (token[i] == "do") {
    j = statement(i + 1)
    while (j <= n && token[j] != "while")
      j = statement(j)
    end = close_of(j + 1)
    if (empty(i + 1) == j)
      waits(j + 1, end)
    return end + 2
  }
  if ((token[i] == "if" || token[i] == "switch") && token[i + 1] == "(") {
    j = statement(close_of(i + 1) + 1)
    return token[j] == "else" ? statement(j + 1) : j
  }
  for (; i <= n && token[i] != "}"; i++) {
    if (token[i] == ";")
      return i + 1
    if (token[i] == "(" || token[i] == "[") {
      called = is_word(token[i - 1]) && token[i - 1] != "return" && token[i - 1] != "sizeof"
      i = close_of(i)
    } else if (token[i] == "{") {
      # A function's body ends its definition, braces of an initializer or a type end nothing.
      j = token[i - 1] == ")" && called
      i = block(i)
      if (j)
        return i
      i--
    } else if (token[i] == ":" && (token[i + 1] == "{" || token[i + 1] ~ /^(while|for|do|if|switch)$/))
      return i + 1
  }
  return i
}

function add(text, is_token) {
  if (is_token) {
    n++
    token[n] = text
    space[n] = gap
    gap = ""
  } else
    gap = gap text
}

/^[ \t]*#/ { add($0 "\n", 0); next }
{
  rest = $0
  while (rest != "") {
    if (match(rest, /^[ \t\r\f\v]+/))
      add(substr(rest, 1, RLENGTH), 0)
    else if (match(rest, /^[A-Za-z0-9_$.]+/) || match(rest, /^[LuU]?"([^"\\]|\\.)*"/) || match(rest, /^'([^'\\]|\\.)*'/) || match(rest, /^(<<=|>>=|\+\+|--|->|<<|>>|[-+*\/%&|^<>=!]=)/))
      add(substr(rest, 1, RLENGTH), 1)
    else {
      RLENGTH = 1
      add(substr(rest, 1, 1), 1)
    }
    rest = substr(rest, RLENGTH + 1)
  }
  add("\n", 0)
}

END {
  for (i = 1; i <= n; i = next_one > i ? next_one : i + 1)
    next_one = statement(i)
  for (i = 1; i <= n; i++)
    printf "%s%s%s%s", space[i], before[i], token[i], behind[i]
  printf "%s", gap
}
