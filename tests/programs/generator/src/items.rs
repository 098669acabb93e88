//! Items of a program: a struct, an enum, constant tables, functions.

use crate::{
    program::{Helper, Program},
    types::{Scalar, Type},
};

impl Program {
    pub(crate) fn items(&mut self) {
        if self.random.once_in(3) {
            self.record();
        }
        if self.random.once_in(3) {
            self.choice();
        }
        if self.random.once_in(5) {
            self.table();
        }
        for _ in 0..self.random.below(5) / 2 {
            self.helper();
        }
    }

    fn record(&mut self) {
        let fields: Vec<_> = (0..2 + self.random.below(3)).map(|_| Scalar::any(&mut self.random)).collect();
        let all: Vec<_> =
            fields.iter().enumerate().map(|(i, field)| format!("f{i}: {}", field.name())).collect();
        self.line("#[derive(Clone, Copy)]");
        self.line(&format!("struct Record {{ {} }}", all.join(", ")));
        let last = fields.len() - 1;
        self.line("impl Record {");
        self.line(&format!(
            "    fn mix(&self, by: u32) -> u32 {{ (self.f0.bits() as u32).rotate_left(by % 32) ^ self.f{last}.bits() as u32 }}"
        ));
        self.line("}");
        self.record = fields;
    }

    fn choice(&mut self) {
        let variants: Vec<_> = (0..1 + self.random.below(3)).map(|_| Scalar::any(&mut self.random)).collect();
        let all: Vec<_> = variants.iter().enumerate().map(|(i, ty)| format!("C{i}({})", ty.name())).collect();
        self.line("#[derive(Clone, Copy)]");
        self.line(&format!("enum Choice {{ {}, None }}", all.join(", ")));
        self.choice = variants;
    }

    fn table(&mut self) {
        let (ty, len) = (Scalar::integer(&mut self.random), 3 + self.random.below(14));
        let entries: Vec<_> = (0..len).map(|_| self.constant(ty)).collect();
        let name = self.fresh("TABLE");
        let word = self.random.of(&["const", "static"]);
        self.line(&format!("{word} {name}: [{}; {len}] = [{}];", ty.name(), entries.join(", ")));
        self.tables.push((ty, name, len));
    }

    fn helper(&mut self) {
        let name = self.fresh("helper");
        let parameters: Vec<_> =
            (0..1 + self.random.below(3)).map(|_| Scalar::any(&mut self.random)).collect();
        let returns = Scalar::any(&mut self.random);
        let (attribute, kind) = self.random.of(&[
            ("", "helper function"),
            ("#[inline(never)]", "helper function that is not inlined"),
            ("#[inline(always)]", "helper function that is always inlined"),
        ]);
        self.scope.clear();
        let mut all = Vec::new();
        for (i, ty) in parameters.iter().enumerate() {
            all.push(format!("mut p{i}: {}", ty.name()));
            self.declare(&format!("p{i}"), Type::Scalar(*ty), true);
        }
        if !attribute.is_empty() {
            self.line(attribute);
        }
        self.line(&format!("fn {name}({}) -> {} {{", all.join(", "), returns.name()));
        // A function of its own sees no memory, and knows nothing of the lanes that call it.
        let outside = std::mem::replace(&mut self.kind, crate::Kind::Scalar);
        self.fuel = 4 + self.random.below(8) as i32;
        self.nested(|program| {
            let count = program.random.below(3);
            program.statements(count);
            let value = program.expression(returns, 3);
            program.line(&value);
        });
        self.kind = outside;
        self.line("}");
        self.scope.clear();
        self.helpers.push(Helper { name, parameters, returns, kind });
    }
}
