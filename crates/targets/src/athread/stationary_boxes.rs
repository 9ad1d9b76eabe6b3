//! Stationary boxes: boxes that are the same for all tiles of a core. They have their own buffers
//! while the loops over cores run. They are brought in again only if a tile needs another box,
//! which happens at other sizes than those for which the tiles were chosen.

use loops::visit::nodes;
use loops::{Diagnostic, Name, Stmt};

use super::expr::{invalid, print};
use super::multicast::kept;
use super::slave::Writer;

impl Writer<'_> {
    /// Gives places to boxes that stay.
    pub(super) fn begin_kept(&mut self, body: &[Stmt]) -> Result<(), Diagnostic> {
        self.kept.clear();
        let (mut names, mut locals) = (Vec::new(), Vec::new());
        for s in nodes(body) {
            if let Some(copy) = kept(s)
                && !self.written.contains(&copy.from.array)
            {
                names.push(copy.to.array.clone());
            }
            if let Stmt::Local(local) = s {
                locals.push(local.clone());
            }
        }
        for name in names {
            // One declaration and one transfer, or none is sure what the buffer holds.
            let own: Vec<&loops::Local> = locals.iter().filter(|l| l.name == name).collect();
            let [local] = own.as_slice() else { continue };
            let most = self.most(local)?.0;
            self.kept.insert(name.clone(), self.next);
            self.take(most);
            self.line(&format!("const void *{name}_from = 0;"));
            self.line(&format!("long {name}_rows = 0, {name}_columns = 0;"));
        }
        Ok(())
    }

    /// A buffer that stays.
    pub(super) fn declare_kept(&mut self, local: &loops::Local) -> Result<(), Diagnostic> {
        let at = self.kept.get(&local.name).copied().unwrap_or(0);
        self.declare(local, &at.to_string())
    }

    /// Brings in a box unless it is there.
    pub(super) fn bring_once(&mut self, stmt: &Stmt) -> Result<(), Diagnostic> {
        let Some(copy) = kept(stmt) else { return Err(invalid("not a transfer of a box that stays")) };
        let name = &copy.to.array;
        let from = format!("(const void *)&{}", print(&self.scope.access(&copy.from)?));
        let extents = copy.extents.iter().map(|e| self.scope.text(e)).collect::<Result<Vec<_>, _>>()?;
        let (rows, columns) = match extents.as_slice() {
            [columns] => ("1", columns.as_str()),
            [rows, columns] => (rows.as_str(), columns.as_str()),
            _ => return Err(invalid("a box that stays has one or two dimensions")),
        };
        self.open(&format!(
            "if ({name}_from != {from} || {name}_rows != {rows} || {name}_columns != {columns}) {{"
        ));
        self.copy(copy)?;
        self.line(&format!("{name}_from = {from};"));
        self.line(&format!("{name}_rows = {rows};"));
        self.line(&format!("{name}_columns = {columns};"));
        self.close();
        Ok(())
    }

    /// Whether a buffer stays for all tiles.
    pub(super) fn stays(&self, buffer: &Name) -> bool {
        self.kept.contains_key(buffer)
    }
}
