//! Deliveries and mails.

use salvo::http::Method;

use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] =
    &[&RESEND, &RESEND_FAILED, &RESEND_MAIL, &REMOVE_SUPPRESSED];

pub(in crate::http::console) static RESEND: ActionForm = ActionForm::new(
    "deliveries/{id}/resend",
    Method::POST,
    "deliveries/{id}/resend",
    Text::new("Send now", "Enviar agora"),
    "deliveries/{id}",
)
.on("deliveries/{id}")
.about(
    "Sends the same event at once, with a fresh schedule of attempts. Receivers recognise it by its id.",
    "Envia o mesmo evento na hora, com uma nova agenda de tentativas. O receptor o reconhece pelo id.",
);

pub(in crate::http::console) static RESEND_FAILED: ActionForm = ActionForm::new(
    "companies/{id}/deliveries/resend",
    Method::POST,
    "companies/{id}/deliveries/resend",
    Text::new("Send all failed again", "Reenviar todas as que falharam"),
    "companies/{id}",
)
.on("companies/{id}")
.about(
    "Sends again, at once, every delivery of this company that failed since the moment below.",
    "Reenvia, na hora, todas as entregas desta empresa que falharam desde o momento abaixo.",
)
.with(&[Input::new("since", "Failed since", "Falharam desde").kind(InputKind::Moment)]);

pub(in crate::http::console) static RESEND_MAIL: ActionForm = ActionForm::new(
    "mails/{id}/resend",
    Method::POST,
    "notices/{id}/resend",
    Text::new("Send again", "Enviar de novo"),
    "mails/{id}",
)
.on("notices/{id}");

pub(in crate::http::console) static REMOVE_SUPPRESSED: ActionForm = ActionForm::new(
    "suppressed-addresses/{id}/remove",
    Method::DELETE,
    "suppressed-addresses/{id}",
    Text::new("Send mails again", "Voltar a enviar e-mails"),
    "suppressed-addresses",
)
.on("suppressed-addresses/{id}")
.about(
    "Only if the reader of this address asked for it. Mails that were suppressed stay so until each is sent again.",
    "Só se quem lê este endereço pediu. Os e-mails suprimidos ficam assim até que cada um seja reenviado.",
);
