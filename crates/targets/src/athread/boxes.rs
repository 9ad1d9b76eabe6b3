//! Transfers of boxes, as calls in the slave file.

use loops::{Access, Copy, CopyKind, Diagnostic, Expr, Name};

use super::expr::{Binding, Scope, invalid, print};
use super::slave::Writer;

impl Writer<'_> {
    /// A box as one strided transfer, or one for each plane beyond two dimensions.
    pub(super) fn copy(&mut self, copy: &Copy) -> Result<(), Diagnostic> {
        let Some(tag) = &copy.tag else { return Err(invalid("a copy without a reply")) };
        let (memory, local) = match copy.kind {
            CopyKind::Get => (&copy.from, &copy.to),
            CopyKind::Put => (&copy.to, &copy.from),
        };
        let rank = copy.extents.len();
        let extents = copy.extents.iter().map(|e| self.scope.text(e)).collect::<Result<Vec<_>, _>>()?;
        let element = |scope: &Scope, access: &Access| -> Result<String, Diagnostic> {
            Ok(format!("&{}", print(&scope.access(access)?)))
        };
        let verb = if copy.kind == CopyKind::Get { "get" } else { "put" };
        let Some(Binding::Linear { pitches, elem, .. }) = self.scope.names.get(&memory.array).cloned() else {
            return Err(invalid(format!("`{}` is not in main memory", memory.array)));
        };
        let bytes = elem.bytes();
        if rank <= 2 {
            let (rows, columns) = match rank {
                0 => ("1".to_owned(), "1".to_owned()),
                1 => ("1".to_owned(), extents[0].clone()),
                _ => (extents[0].clone(), extents[1].clone()),
            };
            let pitch = if rank == 2 { pitches[0].clone() } else { columns.clone() };
            let (local, memory) = (element(&self.scope, local)?, element(&self.scope, memory)?);
            self.line(&format!(
                "{tag}_sent += {verb}_box({local}, {memory}, {rows}, {columns}, {pitch}, {bytes}, &{tag});"
            ));
            return Ok(());
        }
        // Planes one after the other.
        let mut vars = Vec::new();
        let (mut local, mut memory) = (local.clone(), memory.clone());
        for (d, extent) in extents.iter().enumerate().take(rank - 2) {
            let var = Name::new(format!("{}_p{d}", local.array));
            self.bind(&var);
            self.open(&format!("for (long {var} = 0; {var} < {extent}; {var}++) {{"));
            for access in [&mut local, &mut memory] {
                let at = access.indices[d].clone();
                access.indices[d] =
                    if at == Expr::Int(0) { Expr::Var(var.clone()) } else { at + Expr::Var(var.clone()) };
            }
            vars.push(var);
        }
        let (local, memory) = (element(&self.scope, &local)?, element(&self.scope, &memory)?);
        let pitch = pitches[rank - 2].clone();
        self.line(&format!(
            "{tag}_sent += {verb}_box({local}, {memory}, {}, {}, {pitch}, {bytes}, &{tag});",
            extents[rank - 2],
            extents[rank - 1]
        ));
        for _ in vars {
            self.close();
        }
        Ok(())
    }
}
