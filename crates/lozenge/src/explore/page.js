"use strict";
// Two sides, each with a tab for every stage; lines of one origin are marked on both. Without this script all stages stand one below
// the other.
(() => {
  const stages = [...document.querySelectorAll(".stage")];
  if (stages.length === 0) return;
  const root = document.documentElement;
  const store = document.getElementById("all");
  const panes = document.getElementById("panes");
  const say = document.getElementById("say");
  /** Names, and the number of what each is a part of. */
  const origins = JSON.parse(document.getElementById("origins").textContent);
  const titles = stages.map((stage) => stage.querySelector("h3").textContent);
  root.classList.add("js");
  panes.hidden = false;

  // ---- tabs

  const count = Math.min(2, stages.length);
  const shown = count === 1 ? [0] : [0, stages.length - 1];
  const sides = shown.map((_, side) => {
    const box = document.createElement("div");
    box.className = "side";
    const list = document.createElement("div");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", side === 0 ? "Stage on the first side" : "Stage on the second side");
    const tabs = titles.map((title, k) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.id = `tab-${side}-${k}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", stages[k].id);
      tab.textContent = title;
      tab.addEventListener("click", () => show(side, k));
      tab.addEventListener("keydown", (event) => {
        const last = titles.length - 1;
        const to = { ArrowRight: k === last ? 0 : k + 1, ArrowLeft: k === 0 ? last : k - 1, Home: 0, End: last }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        show(side, to);
        tabs[to].focus();
      });
      list.append(tab);
      return tab;
    });
    box.append(list);
    panes.append(box);
    return { box, tabs };
  });

  function show(side, k) {
    const other = 1 - side;
    // A stage that is on the other side already changes places.
    if (count > 1 && shown[other] === k) shown[other] = shown[side];
    shown[side] = k;
    place();
  }

  function place() {
    stages.forEach((stage, k) => {
      if (!shown.includes(k)) store.append(stage);
    });
    sides.forEach(({ box, tabs }, side) => {
      tabs.forEach((tab, k) => {
        const chosen = k === shown[side];
        tab.setAttribute("aria-selected", String(chosen));
        tab.tabIndex = chosen ? 0 : -1;
      });
      const stage = stages[shown[side]];
      stage.setAttribute("role", "tabpanel");
      stage.setAttribute("aria-labelledby", tabs[shown[side]].id);
      if (stage.parentElement !== box) box.append(stage);
    });
  }

  // ---- lines of one origin

  const lines = stages.map((stage) => [...stage.querySelectorAll("span[data-o]")]);
  const of = (line) => line.dataset.o.split(" ");
  const byOrigin = new Map();
  const add = (origin, found) => {
    if (!byOrigin.has(origin)) byOrigin.set(origin, []);
    byOrigin.get(origin).push(found);
  };
  lines.forEach((list, stage) => {
    list.forEach((line, k) => {
      line.tabIndex = k === 0 ? 0 : -1;
      line.setAttribute("role", "button");
      const wholes = of(line).map((origin) => origins[origin][1]).filter((whole) => whole !== undefined);
      for (const origin of new Set([...of(line), ...wholes.map(String)])) add(origin, { line, stage });
    });
  });
  let marked = [];

  function mark(line) {
    for (const old of marked) old.classList.remove("on");
    marked = of(line).flatMap((origin) => byOrigin.get(origin)).map((found) => found.line);
    for (const found of marked) found.classList.add("on");
  }

  /** Brings the first line of the same origin on the other side into view, and says where such lines are. */
  function follow(line, stage) {
    const same = of(line).flatMap((origin) => byOrigin.get(origin));
    const names = of(line).map((origin) => origins[origin][0]).join(", ");
    const told = [];
    for (const k of shown) {
      if (k === stage) continue;
      const there = same.filter((found) => found.stage === k);
      if (there.length > 0) into(there[0].line);
      told.push(`${there.length === 0 ? "no known line" : there.length === 1 ? "1 line" : `${there.length} lines`} in ${titles[k]}`);
    }
    say.textContent = `${names}: ${told.join("; ")}`;
  }

  /** Scrolls inside the text only: the page stays where it is. */
  function into(line) {
    const text = line.closest("pre");
    text.scrollTop = line.offsetTop - text.clientHeight / 3;
  }

  lines.forEach((list, stage) => {
    list.forEach((line, k) => {
      line.addEventListener("mouseenter", () => mark(line));
      line.addEventListener("focus", () => mark(line));
      line.addEventListener("click", () => { mark(line); follow(line, stage); });
      line.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          follow(line, stage);
          return;
        }
        const to = { ArrowDown: k + 1, ArrowUp: k - 1, Home: 0, End: list.length - 1 }[event.key];
        if (to === undefined || !list[to]) return;
        event.preventDefault();
        line.tabIndex = -1;
        list[to].tabIndex = 0;
        list[to].focus({ preventScroll: false });
      });
    });
  });

  place();
  // What the compiler worked on comes into view: a C file may have much around it.
  for (const k of shown) {
    if (lines[k].length > 0) into(lines[k][0]);
  }
})();
