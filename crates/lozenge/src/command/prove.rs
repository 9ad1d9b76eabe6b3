//! `lozenge prove`: Coq decides whether the loops of a program compute what it says.
//!
//! One definition ends in a few sentences, several in a table. Not here: what a certificate is (`dpia::certificate`), and how Coq is run (`coq`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dpia::certificate::{Certificate, Law};
use serde_json::{Value as Json, json};

use crate::cli::{Choice, Proof, Prove};
use crate::command::STACK;
use crate::coq::{Answer, Coq, Verdict};
use crate::failure::{Failure, FailureKind, Source};
use crate::files::{find, read_source, write_whole};
use crate::pipeline::Front;
use crate::report;
use crate::statistics::seconds;

/// A definition and its certificate, or why it has none.
struct Claim {
    path: String,
    definition: String,
    strategy: Option<String>,
    certificate: Result<Certificate, Failure>,
    /// Time to translate and to print, in seconds.
    made: f64,
}

/// What became of a claim.
struct Outcome<'a> {
    claim: &'a Claim,
    bytes: usize,
    answer: Result<Answer, Failure>,
}

/// Runs the command.
///
/// # Errors
/// `X0702` if a certificate is rejected, `D0201` if the one definition has none, `X0703` without Coq; what the stages refuse.
pub fn run(arguments: &Prove, as_json: bool) -> Result<(), Failure> {
    let mut claims = Vec::new();
    for path in &arguments.paths {
        for file in find(path, &["loz"])? {
            claims.extend(claims_of(&read_source(&file)?, &arguments.choice)?);
        }
    }
    if arguments.emit == Some(Proof::Certificate) || arguments.output.is_some() {
        let [claim] = &mut claims[..] else {
            return Err(Failure::usage(
                "X0705",
                format!("there are {} certificates for one file", claims.len()),
            )
            .help("name one definition with --def"));
        };
        let text = text(claim)?;
        match &arguments.output {
            Some(output) => write_whole(output, text.as_bytes())?,
            None => report::print(&text),
        }
        if arguments.emit == Some(Proof::Certificate) {
            return Ok(());
        }
    }
    let limit = Duration::from_secs(arguments.timeout);
    // A definition that has no certificate is refused before Coq is looked for.
    if let [claim] = &mut claims[..]
        && let Err(failure) = &claim.certificate
    {
        return Err(failure.clone());
    }
    let coq = Coq::ready(|doing| report::print_error(&format!("{doing}\n")))?;
    let outcomes = decide(&claims, &coq, arguments.jobs, limit);
    if as_json {
        let results: Vec<Json> = outcomes.iter().map(to_json).collect();
        let ok = outcomes.iter().all(Outcome::passes);
        report::print(&format!("{:#}\n", json!({ "ok": ok, "certificates": results })));
    } else if let [outcome] = &outcomes[..] {
        report::print(&sentences(outcome)?);
    } else {
        report::print(&table(&outcomes));
    }
    match outcomes.iter().filter(|o| !o.passes()).count() {
        0 => Ok(()),
        _ if as_json => Err(Failure::told(FailureKind::Check)),
        rejected => Err(Failure::check(
            "X0702",
            format!("{rejected} of {} certificates are not accepted", outcomes.len()),
        )),
    }
}

/// The definitions of a program that are asked for.
fn claims_of(source: &Source, choice: &Choice) -> Result<Vec<Claim>, Failure> {
    let front = Front::open(source, choice)?;
    let names = front.wanted(choice)?;
    let claim = |definition: String| {
        let began = Instant::now();
        let mut choice = Choice { definition: Some(definition.clone()), ..choice.clone() };
        let mut certificate = front.certificate(&choice);
        // `D0101`: no strategy has chosen the loops.
        if choice.strategy.is_none()
            && certificate.as_ref().is_err_and(|f| f.diagnostics.iter().any(|d| d.code.0 == "D0101"))
        {
            choice.strategy = Some("auto".into());
            certificate = front.certificate(&choice);
        }
        let made = began.elapsed().as_secs_f64();
        Claim { path: source.path.clone(), definition, strategy: choice.strategy, certificate, made }
    };
    Ok(names.into_iter().map(claim).collect())
}

fn text(claim: &mut Claim) -> Result<String, Failure> {
    match &claim.certificate {
        Ok(certificate) => Ok(certificate.to_coq(&claim.definition)),
        Err(failure) => Err(failure.clone()),
    }
}

/// Lets Coq decide about all claims, several at a time.
fn decide<'a>(claims: &'a [Claim], coq: &Coq, jobs: Option<u32>, limit: Duration) -> Vec<Outcome<'a>> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.map_or(available, |n| n as usize).min(claims.len());
    let bar = report::progress(claims.len() as u64, "Coq");
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        while let Some((k, claim)) = {
            let k = next.fetch_add(1, Ordering::Relaxed);
            claims.get(k).map(|claim| (k, claim))
        } {
            let (bytes, answer) = match &claim.certificate {
                Ok(certificate) => {
                    let bytes = certificate.to_coq(&claim.definition).len();
                    (bytes, coq.decide(&certificate.to_claim(&claim.definition), limit))
                }
                Err(failure) => (0, Err(failure.clone())),
            };
            bar.inc(1);
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push((k, Outcome { claim, bytes, answer }));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            // The printer recurses as deep as the programs nest.
            if std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).is_err() {
                break;
            }
        }
    });
    work();
    bar.finish_and_clear();
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(k, _)| *k);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

impl Outcome<'_> {
    /// Accepted without axioms, or without certificate for a stated reason.
    fn passes(&self) -> bool {
        match &self.answer {
            Ok(answer) => answer.verdict == Verdict::Accepted { axioms: Vec::new() },
            Err(_) => self.claim.certificate.is_err(),
        }
    }

    fn verdict(&self) -> &'static str {
        match &self.answer {
            Ok(Answer { verdict: Verdict::Accepted { axioms }, .. }) if axioms.is_empty() => "accepted",
            Ok(Answer { verdict: Verdict::Accepted { .. }, .. }) => "accepted with axioms",
            Ok(Answer { verdict: Verdict::Rejected, .. }) => "rejected",
            Err(_) if self.claim.certificate.is_err() => "no certificate",
            Err(_) => "no answer",
        }
    }

    fn reason(&self) -> String {
        match &self.answer {
            Err(failure) => failure.diagnostics.first().map_or_else(String::new, |d| d.message.clone()),
            Ok(_) => {
                self.claim.strategy.as_ref().map_or_else(String::new, |s| format!("with strategy `{s}`"))
            }
        }
    }

    fn laws(&self) -> Vec<String> {
        let laws = |c: &Certificate| c.laws.iter().map(Law::to_string).collect();
        self.claim.certificate.as_ref().map(laws).unwrap_or_default()
    }

    /// Whether nothing but laws is used that floating-point arithmetic has.
    fn exact(&self) -> bool {
        self.claim.certificate.as_ref().is_ok_and(|c| c.laws.iter().all(Law::is_exact))
    }
}

/// What a certificate says, for a person.
fn sentences(outcome: &Outcome<'_>) -> Result<String, Failure> {
    let answer = match &outcome.answer {
        Ok(answer) => answer,
        Err(failure) => return Err(failure.clone()),
    };
    let Claim { path, definition, .. } = outcome.claim;
    let mut lines = vec![format!("{path}: {definition}: {}", outcome.verdict())];
    match &answer.verdict {
        Verdict::Accepted { axioms } => {
            lines.push(
                "  Coq has proved: for all sizes that the definition allows, all inputs and every interleaving of parallel iterations, the loops end,".into(),
            );
            let how = if outcome.exact() { "bit for bit what the program says" } else { "what the program says up to the laws below" };
            lines.push(format!(
                "  `out` is then {how}, and nothing else has changed; nothing races, nothing outside an array is read or written."
            ));
            let laws = outcome.laws();
            let laws = if laws.is_empty() { "none".to_owned() } else { laws.join(", ") };
            lines.push(format!("  laws of arithmetic used: {laws}"));
            let axioms = if axioms.is_empty() { "none".to_owned() } else { axioms.join(", ") };
            lines.push(format!("  axioms: {axioms}"));
        }
        Verdict::Rejected => lines.push(
            "  The checker could not see that the loops compute what the program says: they may be wrong, or beyond what it understands.".into(),
        ),
    }
    lines.push(format!(
        "  certificate of {} bytes; time: {}",
        outcome.bytes,
        seconds(answer.time.as_secs_f64())
    ));
    Ok(lines.join("\n") + "\n")
}

fn table(outcomes: &[Outcome<'_>]) -> String {
    let mut rows = vec![["definition", "verdict", "bytes", "Coq", "remark"].map(str::to_owned).to_vec()];
    for outcome in outcomes {
        let time = outcome.answer.as_ref().map_or_else(|_| String::new(), |a| seconds(a.time.as_secs_f64()));
        let bytes = if outcome.bytes == 0 { String::new() } else { outcome.bytes.to_string() };
        let name = format!("{} {}", outcome.claim.path, outcome.claim.definition);
        rows.push(vec![name, outcome.verdict().to_owned(), bytes, time, outcome.reason()]);
    }
    let count = |verdict: &str| outcomes.iter().filter(|o| o.verdict() == verdict).count();
    let slowest = outcomes.iter().filter_map(|o| o.answer.as_ref().ok()).map(|a| a.time).max();
    let slowest = slowest.map_or_else(String::new, |t| format!("; slowest: {}", seconds(t.as_secs_f64())));
    format!(
        "{}{} of {} accepted, {} rejected, {} without answer, {} without certificate{slowest}\n",
        report::table(&rows),
        count("accepted"),
        outcomes.len(),
        count("rejected") + count("accepted with axioms"),
        count("no answer"),
        count("no certificate"),
    )
}

fn to_json(outcome: &Outcome<'_>) -> Json {
    let axioms = match &outcome.answer {
        Ok(Answer { verdict: Verdict::Accepted { axioms }, .. }) => Some(axioms.clone()),
        _ => None,
    };
    json!({
        "file": outcome.claim.path,
        "definition": outcome.claim.definition,
        "strategy": outcome.claim.strategy,
        "verdict": outcome.verdict(),
        "reason": outcome.answer.as_ref().err().map(Failure::summary),
        "laws": outcome.laws(),
        "axioms": axioms,
        "bytes": outcome.bytes,
        "translation": outcome.claim.made,
        "time": outcome.answer.as_ref().ok().map(|a| a.time.as_secs_f64()),
    })
}
