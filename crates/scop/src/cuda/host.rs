//! The function of the host: buffers, copies and launches.

use std::collections::HashMap;
use std::fmt::Write;

use tangram_polyhedral::ast::{Ast, CStyle};

use super::Writer;
use super::text::Form;
use super::variables::{Role, Size, Variable};

const INDENT: &str = "    ";

impl Writer<'_> {
    /// Writes the host function.
    pub(super) fn host_function(&self) -> String {
        let parameters = self.variables.all.iter().filter(|variable| variable.parameter);
        let parameters: Vec<String> = parameters.map(|v| self.parameter(v)).collect();
        let (mut text, checked) = (String::new(), self.checked());
        if !self.variables.whole {
            let _ = writeln!(text, "/* In the place of the part: {} */", self.call());
        }
        let _ = writeln!(text, "extern \"C\" void {}({})\n{{", self.name, parameters.join(", "));
        text.push_str(&self.otherwise());
        for variable in self.buffers() {
            self.buffer(variable, &mut text);
        }
        text.push_str(&self.launches());
        let _ = writeln!(text, "{INDENT}{checked}(cudaDeviceSynchronize());");
        for variable in self.buffers() {
            let Variable { name, role, .. } = variable;
            let (device, size) = (self.device(variable), self.size(variable));
            if matches!(role, Role::Buffer { writes: true, .. }) {
                let from = self.address(variable);
                let _ = writeln!(
                    text,
                    "{INDENT}{checked}(cudaMemcpy({from}, {device}, {size}, cudaMemcpyDeviceToHost));"
                );
            }
            let _ = writeln!(text, "{INDENT}{checked}(cudaFree({device})); /* {name} */");
        }
        text.push_str("}\n");
        text
    }

    fn buffers(&self) -> impl Iterator<Item = &Variable> {
        let is_buffer = |v: &&Variable| matches!(v.role, Role::Buffer { .. });
        self.variables.all.iter().filter(is_buffer)
    }

    /// Writes a parameter of the host function; its caller may be C.
    fn parameter(&self, variable: &Variable) -> String {
        let Variable { name, element, .. } = variable;
        match self.is_pointer(variable) {
            true => format!("{element} *{name}"),
            false => format!("{element} {name}"),
        }
    }

    fn is_pointer(&self, variable: &Variable) -> bool {
        let cell = matches!(variable.role, Role::Buffer { .. }) && !self.variables.whole;
        !variable.extents.is_empty() || cell
    }

    /// Writes how the source calls the function.
    fn call(&self) -> String {
        let argument = |variable: &Variable| {
            let name = &variable.name;
            match variable.extents.len() {
                0 if self.is_pointer(variable) => format!("&{name}"),
                0 | 1 => name.clone(),
                // A pointer to the first row is no pointer to the first cell.
                _ => format!("({} *){name}", variable.element),
            }
        };
        let parameters = self.variables.all.iter().filter(|variable| variable.parameter);
        let arguments: Vec<String> = parameters.map(argument).collect();
        format!("{}({});", self.name, arguments.join(", "))
    }

    /// Writes where the host has the cells of a variable.
    fn address(&self, variable: &Variable) -> String {
        if self.is_pointer(variable) {
            variable.name.clone()
        } else {
            format!("&{}", variable.name)
        }
    }

    /// The macro around calls that may fail.
    fn checked(&self) -> String {
        self.root.text("TANGRAM_CUDA")
    }

    fn device(&self, variable: &Variable) -> String {
        self.apart("device", variable)
    }

    fn size(&self, variable: &Variable) -> String {
        self.apart("bytes", variable)
    }

    /// Makes a name that no variable of the source has.
    fn apart(&self, start: &str, variable: &Variable) -> String {
        let mut name = format!("{start}_{}", variable.name);
        let used = self.words();
        while used.contains(name.as_str()) {
            name.push('_');
        }
        name
    }

    fn inner_style(&self) -> CStyle {
        let mut style = self.style();
        style.depth = 1;
        style
    }

    /// Allocates the cells of a variable and copies to them.
    fn buffer(&self, variable: &Variable, text: &mut String) {
        let (element, checked) = (&variable.element, self.checked());
        let (device, size) = (self.device(variable), self.size(variable));
        let mut extents = variable.extents.clone();
        match &variable.size {
            Size::Declared => {}
            Size::Rows(last) => {
                let rows = self.apart("rows", variable);
                let _ = writeln!(text, "{INDENT}long long {rows} = 0;");
                self.greatest(last, &rows, " + 1", text);
                extents[0] = rows;
            }
            Size::Strided(places) => {
                let mut all = Vec::new();
                for (at, (last, stride)) in places.iter().enumerate() {
                    let name = self.apart(&format!("last{at}"), variable);
                    let _ = writeln!(text, "{INDENT}long long {name} = -1;");
                    self.greatest(last, &name, "", text);
                    all.push((name, stride));
                }
                // Where one dimension has nothing, none has.
                let least = format!("{} < 0", all[0].0);
                let sum: Vec<String> =
                    all.iter().map(|(name, stride)| format!("{name} * ({stride})")).collect();
                extents = vec![format!("{least} ? 0 : {} + 1", sum.join(" + "))];
            }
        }
        let factors: String = extents.iter().map(|e| format!(" * (size_t)({e})")).collect();
        let _ = writeln!(text, "{INDENT}const size_t {size} = sizeof({element}){factors};");
        let _ = writeln!(text, "{INDENT}{element} *{device} = NULL;");
        let _ = writeln!(text, "{INDENT}{checked}(cudaMalloc((void **)&{device}, {size}));");
        if matches!(variable.role, Role::Buffer { reads: true, .. }) {
            let from = self.address(variable);
            let _ = writeln!(
                text,
                "{INDENT}{checked}(cudaMemcpy({device}, {from}, {size}, cudaMemcpyHostToDevice));"
            );
        }
    }

    /// Writes code after which a variable has the greatest of the values that are found.
    fn greatest(&self, last: &Ast, name: &str, more: &str, text: &mut String) {
        text.push_str(&last.to_c_with(&self.inner_style(), &|_: &str, arguments: &[String]| {
            let last = arguments.first().map_or("0", String::as_str);
            format!("{name} = {}max({name}, {last}{more});", self.root.lower())
        }));
    }

    /// Writes what runs on the host where parameters are not those that the kernels are right for:
    /// the source's statements in their order.
    fn otherwise(&self) -> String {
        let Some(original) = &self.original else { return String::new() };
        let style = self.inner_style();
        let mut text = self.fits(&style);
        let is_own = |variable: &&Variable| match variable.role {
            Role::Private => true,
            Role::Buffer { outside, .. } => !outside,
            _ => false,
        };
        for variable in self.variables.all.iter().filter(is_own) {
            let _ = writeln!(text, "{INDENT}{INDENT}{};", variable.declaration());
        }
        let forms = self.host_forms();
        let mut style = style;
        style.depth += 1;
        text.push_str(&original.to_c_with(&style, &|name: &str, arguments: &[String]| {
            self.statement(name, arguments, &forms).unwrap_or_default()
        }));
        let _ = writeln!(text, "{INDENT}{INDENT}return;\n{INDENT}}}");
        text
    }

    /// Computes whether parameters are those that the kernels are right for, and begins what is done
    /// where they are not.
    fn fits(&self, style: &CStyle) -> String {
        let mut fits = "fits".to_owned();
        while self.words().contains(fits.as_str()) {
            fits.push('_');
        }
        let limits = match self.limits.as_slice() {
            [] => "1".to_owned(),
            all => all.join(" && "),
        };
        let Some(test) = &self.part.test else {
            return format!("{INDENT}if (!({limits})) {{\n");
        };
        let mut text = format!("{INDENT}int {fits} = 0;\n");
        let test = test.to_c_with(style, &|_: &str, _: &[String]| format!("{fits} = 1;"));
        // It is computed within these limits alone.
        let _ = match self.limits.is_empty() {
            true => write!(text, "{test}"),
            false => write!(text, "{INDENT}if ({limits}) {{\n{test}{INDENT}}}\n"),
        };
        let _ = writeln!(text, "{INDENT}if (!{fits}) {{");
        text
    }

    /// Says in a comment how the host launches the kernels.
    pub(super) fn launch_comment(&self) -> String {
        let mut text = "/* On the host, with arrays in memory of the device:\n".to_owned();
        for variable in self.buffers() {
            let Variable { name, element, extents, role, .. } = variable;
            let factors = extents.iter().map(|extent| match extent.as_str() {
                "" => "what is used".to_owned(),
                extent => format!("({extent})"),
            });
            let count = factors.collect::<Vec<_>>().join(" * ");
            let count = if count.is_empty() { "1".to_owned() } else { count };
            let Role::Buffer { reads, writes, .. } = role else { continue };
            let before = if *reads { ", copied to it before" } else { "" };
            let behind = if *writes { ", copied back" } else { "" };
            let _ = writeln!(text, "{INDENT}{element} *{name}: {count} elements{before}{behind}");
        }
        if self.original.is_some() {
            text.push_str(&format!(
                "{}{INDENT}{INDENT}the source's loops\n{INDENT}}}\n",
                self.fits(&self.inner_style())
            ));
        }
        let style = self.inner_style();
        text.push_str(&self.code.host.to_c_with(&style, &|name: &str, arguments: &[String]| {
            self.launch(name, arguments, &|variable| variable.name.clone()).unwrap_or_default()
        }));
        text.push_str("*/\n");
        text
    }

    /// How statements write variables on the host: arrays of the source are pointers there.
    fn host_forms(&self) -> HashMap<String, Form> {
        let mut forms = self.variables.forms();
        for variable in &self.variables.all {
            let outside = matches!(variable.role, Role::Buffer { outside: true, .. });
            if !outside || !self.is_pointer(variable) {
                forms.remove(&variable.name);
            }
        }
        forms
    }

    /// Writes the loops of the host.
    fn launches(&self) -> String {
        let style = self.inner_style();
        self.code.host.to_c_with(&style, &|name: &str, arguments: &[String]| {
            let launch = self.launch(name, arguments, &|variable| self.device(variable));
            launch.map_or(String::new(), |launch| {
                format!("{{ {launch} {}(cudaGetLastError()); }}", self.checked())
            })
        })
    }

    /// Writes the launch of a kernel with arrays under other names.
    fn launch(
        &self,
        name: &str,
        arguments: &[String],
        array: &dyn Fn(&Variable) -> String,
    ) -> Option<String> {
        let kernel = self.code.kernels.iter().find(|kernel| kernel.name == name)?;
        let used = self.used(kernel).map(|variable| match variable.role {
            Role::Buffer { .. } => array(variable),
            _ => variable.name.clone(),
        });
        let arguments: Vec<String> = arguments.iter().cloned().chain(used).collect();
        let (name, units) = (self.kernel_name(kernel), kernel.launch.configuration());
        Some(format!("{name}{units}({});", arguments.join(", ")))
    }
}
