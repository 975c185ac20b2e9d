//! The clock of a sandbox.

use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) static ADVANCE: ActionForm = ActionForm::new(
    "sandbox/clock",
    Method::POST,
    "sandbox/clock",
    Text::new("Let time pass", "Avançar o tempo"),
    "health",
)
.about(
    "Moves the sandbox's clock forward: offers expire, deliveries are tried again, keys end.",
    "Adianta o relógio da sandbox: ofertas expiram, entregas são tentadas de novo, chaves vencem.",
)
.with(&[Input::new("advanceSeconds", "Hours", "Horas").kind(InputKind::Hours)])
.showing_clock()
.final_step();
