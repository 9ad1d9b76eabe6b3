//! `lozenge prove`: Coq decides whether the loops of a program compute what it says.
//!
//! One definition ends in a few sentences, several in a table. Not here: what a certificate is
//! (`dpia::certificate`), and how Coq is run (`coq`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dpia::certificate::{Certificate, Law};
use serde_json::{Value as Json, json};

use crate::api::STACK;
use crate::cli::{Proof, Prove};
use crate::coq::{Answer, Coq, Verdict};
use crate::failure::{Failure, FailureKind, Source};
use crate::files::{self, find, read_source, write_whole};
use crate::progress::Bar;
use crate::report;
use crate::request::Request;
use crate::statistics::seconds;

/// A definition and its certificates.
struct Claim {
    path: String,
    definition: String,
    strategy: Option<String>,
    /// The best first.
    candidates: Vec<Candidate>,
    /// Time to translate and to print, in seconds.
    made: f64,
}

/// A certificate, or why there is none.
struct Candidate {
    certificate: Result<Certificate, Failure>,
    /// Passes between the loops of the certificate and those that become C.
    after: Vec<&'static str>,
}

/// What became of a claim.
struct Outcome<'a> {
    claim: &'a Claim,
    /// The certificate that is accepted; if none is, the last one.
    candidate: &'a Candidate,
    bytes: usize,
    answer: Result<Answer, Failure>,
    /// Which parts of the checker reject it, if that was asked.
    objections: Vec<&'static str>,
}

/// Runs the command.
///
/// # Errors
/// `X0702` if a certificate is rejected, `D0201` if the one definition has none, `X0703` without
/// Coq; what the stages refuse.
pub fn run(arguments: &Prove, as_json: bool) -> Result<(), Failure> {
    let mut claims = Vec::new();
    for path in &arguments.paths {
        for file in find(path, &["loz"])? {
            claims.extend(claims_of(&read_source(&file)?, &arguments.choice.request()?)?);
        }
    }
    let one_file = arguments.emit == Some(Proof::Certificate) || arguments.output.is_some();
    if one_file && claims.len() != 1 {
        return Err(Failure::usage("X0705", format!("there are {} certificates for one file", claims.len()))
            .help("name one definition with --def"));
    }
    if let [claim] = &claims[..] {
        // A definition that has no certificate is refused before Coq is looked for.
        let first = claim.candidates.iter().find(|c| c.certificate.is_ok());
        let Some(candidate) = first.or(claim.candidates.last()) else { return Ok(()) };
        let text = text(claim, candidate)?;
        if arguments.emit == Some(Proof::Certificate) {
            keep(arguments, &text)?;
            report::give(&text, arguments.output.as_deref(), as_json);
            return Ok(());
        }
    }
    let limit = Duration::from_secs(arguments.timeout);
    let coq = Coq::ready(|doing| report::print_error(&format!("{doing}\n")))?;
    let outcomes = decide(&claims, &coq, arguments.jobs, limit);
    if let ([outcome], true) = (&outcomes[..], one_file) {
        keep(arguments, &text(outcome.claim, outcome.candidate)?)?;
    }
    if as_json {
        let results: Vec<Json> = outcomes.iter().map(to_json).collect();
        let ok = outcomes.iter().all(Outcome::passes);
        report::print_json(json!({ "ok": ok, "certificates": results }));
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
fn claims_of(source: &Source, request: &Request) -> Result<Vec<Claim>, Failure> {
    let front = files::open(source, request)?;
    let names = front.wanted(request)?;
    let claim = |definition: String| {
        let began = Instant::now();
        let request = request.of(&definition);
        let sides = front.claims(&request);
        let undecided = sides.as_ref().is_ok_and(|sides| sides.iter().any(|one| one.undecided));
        let strategy = request.strategy.or(undecided.then(|| crate::pipeline::AUTOMATIC.to_owned()));
        let candidates = match sides {
            Ok(sides) => sides
                .into_iter()
                .map(|s| Candidate { certificate: front.certificate(&s), after: s.after })
                .collect(),
            Err(failure) => vec![Candidate { certificate: Err(failure), after: Vec::new() }],
        };
        let made = began.elapsed().as_secs_f64();
        Claim { path: source.path.clone(), definition, strategy, candidates, made }
    };
    Ok(names.into_iter().map(claim).collect())
}

/// The file of a certificate.
fn text(claim: &Claim, candidate: &Candidate) -> Result<String, Failure> {
    let certificate = candidate.certificate.as_ref().map_err(Clone::clone)?;
    let text = certificate.to_coq(&claim.definition);
    Ok(match &candidate.after[..] {
        [] => text,
        after => format!(
            "(* The C is made of other loops: after these come the passes {}. *)\n{text}",
            after.join(", ")
        ),
    })
}

/// Writes a certificate to its file, or where there is none to the standard output if asked to.
fn keep(arguments: &Prove, text: &str) -> Result<(), Failure> {
    arguments.output.as_ref().map_or(Ok(()), |output| write_whole(output, text.as_bytes()))
}

/// Lets Coq decide about all claims, several at a time.
fn decide<'a>(claims: &'a [Claim], coq: &Coq, jobs: Option<u32>, limit: Duration) -> Vec<Outcome<'a>> {
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.map_or(available, |n| n as usize).min(claims.len());
    let bar = Bar::new(claims.len() as u64, "Coq");
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        while let Some((k, claim)) = {
            let k = next.fetch_add(1, Ordering::Relaxed);
            claims.get(k).map(|claim| (k, claim))
        } {
            let outcome = decide_one(claim, coq, limit);
            bar.inc(1);
            if let (Ok(mut outcomes), Some(outcome)) = (outcomes.lock(), outcome) {
                outcomes.push((k, outcome));
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
    drop(bar);
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(k, _)| *k);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// The first certificate that is accepted, else the last one.
fn decide_one<'a>(claim: &'a Claim, coq: &Coq, limit: Duration) -> Option<Outcome<'a>> {
    let mut last = None;
    for candidate in &claim.candidates {
        let (bytes, answer) = match &candidate.certificate {
            Ok(certificate) => {
                let bytes = certificate.to_coq(&claim.definition).len();
                (bytes, coq.decide(certificate, &claim.definition, limit))
            }
            Err(failure) => (0, Err(failure.clone())),
        };
        let outcome = Outcome { claim, candidate, bytes, answer, objections: Vec::new() };
        let passes = outcome.accepted();
        last = Some(outcome);
        if passes {
            break;
        }
    }
    let mut outcome = last?;
    if let (Ok(Answer { verdict: Verdict::Rejected, .. }), Ok(certificate)) =
        (&outcome.answer, &outcome.candidate.certificate)
    {
        outcome.objections = coq.objections(certificate, &claim.definition, limit).unwrap_or_default();
    }
    Some(outcome)
}

impl Outcome<'_> {
    /// Accepted without axioms.
    fn accepted(&self) -> bool {
        matches!(&self.answer, Ok(answer) if answer.verdict == Verdict::Accepted { axioms: Vec::new() })
    }

    /// Accepted without axioms, or without certificate for a stated reason.
    fn passes(&self) -> bool {
        self.accepted() || self.candidate.certificate.is_err()
    }

    fn verdict(&self) -> &'static str {
        match &self.answer {
            Ok(Answer { verdict: Verdict::Accepted { axioms }, .. }) if axioms.is_empty() => "accepted",
            Ok(Answer { verdict: Verdict::Accepted { .. }, .. }) => "accepted with axioms",
            Ok(Answer { verdict: Verdict::Rejected, .. }) => "rejected",
            Err(_) if self.candidate.certificate.is_err() => "no certificate",
            Err(_) => "no answer",
        }
    }

    fn reason(&self) -> String {
        let mut remarks = Vec::new();
        if let Err(failure) = &self.answer {
            remarks.extend(failure.diagnostics.first().map(|d| d.message.clone()));
        } else {
            if !self.objections.is_empty() {
                remarks.push(format!("not seen: {}", self.objections.join(", ")));
            }
            remarks.extend(self.claim.strategy.as_ref().map(|s| match ::functional::strategy::is_trace(s) {
                true => "with a replayed trace".to_owned(),
                false => format!("with strategy `{s}`"),
            }));
        }
        if self.accepted() && !self.candidate.after.is_empty() {
            remarks.push(format!("before {}", self.candidate.after.join(", ")));
        }
        remarks.join("; ")
    }

    /// Whether the loops of the certificate are those that become C.
    fn as_printed(&self) -> bool {
        self.accepted() && self.candidate.after.is_empty()
    }

    fn laws(&self) -> Vec<String> {
        let laws = |c: &Certificate| c.laws.iter().map(Law::to_string).collect();
        self.candidate.certificate.as_ref().map(laws).unwrap_or_default()
    }

    fn hypotheses(&self) -> Vec<String> {
        self.candidate.certificate.as_ref().map(Certificate::hypotheses).unwrap_or_default()
    }

    /// Whether nothing but laws is used that floating-point arithmetic has.
    fn exact(&self) -> bool {
        self.candidate.certificate.as_ref().is_ok_and(|c| c.laws.iter().all(Law::is_exact))
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
        Verdict::Accepted { axioms } => lines.extend(proved(outcome, axioms)),
        Verdict::Rejected => {
            lines.push(
                "  The checker could not see that the loops compute what the program says: they may be wrong, or beyond what it understands.".into(),
            );
            if !outcome.objections.is_empty() {
                lines.push(format!("  not seen: {}", outcome.objections.join(", ")));
            }
        }
    }
    lines.push(format!(
        "  certificate of {} bytes; time: {}",
        outcome.bytes,
        seconds(answer.time.as_secs_f64())
    ));
    Ok(lines.join("\n") + "\n")
}

/// What is proved, of which loops, and under which hypotheses.
fn proved(outcome: &Outcome<'_>, axioms: &[String]) -> Vec<String> {
    let after = outcome.candidate.after.join(", ");
    let mut lines = Vec::new();
    lines.push(match &*after {
        "" => "  Coq has proved of the loops that become C:".to_owned(),
        after => format!("  Coq has proved of the loops before the passes {after}:"),
    });
    lines.push("  for all sizes that the definition allows, all inputs and every interleaving of parallel iterations, the loops end,".into());
    let how = if outcome.exact() {
        "bit for bit what the program says"
    } else {
        "what the program says up to the laws below"
    };
    lines.push(format!(
        "  `out` is then {how}, and nothing else has changed; nothing races, nothing outside an array is read or written."
    ));
    if !after.is_empty() {
        lines.push(format!("  Not proved: that the passes {after} keep this. The C is made after them; --schedule none leaves them out."));
    }
    let list = |words: &[String]| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    lines.push(format!("  laws of arithmetic used: {}", list(&outcome.laws())));
    lines.push("  hypotheses:".to_owned());
    lines.extend(outcome.hypotheses().iter().map(|h| format!("    {h}")));
    lines.push(format!("  axioms: {}", list(axioms)));
    lines
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
    let as_printed = outcomes.iter().filter(|o| o.as_printed()).count();
    let slowest = outcomes.iter().filter_map(|o| o.answer.as_ref().ok()).map(|a| a.time).max();
    let slowest = slowest.map_or_else(String::new, |t| format!("; slowest: {}", seconds(t.as_secs_f64())));
    format!(
        "{}{} of {} accepted ({} of the loops that become C, {} before further passes), {} rejected, {} without answer, {} without certificate{slowest}\n",
        report::table(&rows),
        count("accepted"),
        outcomes.len(),
        as_printed,
        count("accepted") - as_printed,
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
        "passes_after": outcome.candidate.after,
        "laws": outcome.laws(),
        "hypotheses": outcome.hypotheses(),
        "not_seen": outcome.objections,
        "axioms": axioms,
        "bytes": outcome.bytes,
        "translation": outcome.claim.made,
        "time": outcome.answer.as_ref().ok().map(|a| a.time.as_secs_f64()),
    })
}
