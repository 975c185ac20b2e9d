//! Deliveries and mails.

use preauth_core::value::EventType;
use salvo::http::Method;

use crate::directory::EndedStatus;
use crate::http::console::action_form::{ActionForm, Input, InputKind};
use crate::language::Text;

pub(in crate::http::console) const ALL: &[&ActionForm] = &[
    &RESEND,
    &RESEND_FAILED,
    &RESEND_RANGE,
    &RESEND_MAIL,
    &REMOVE_SUPPRESSED,
];

pub(in crate::http::console) static RESEND: ActionForm = ActionForm::new(
    "deliveries/{id}/resend",
    Method::POST,
    "deliveries/{id}/resend",
    Text::new("Send now", "Enviar agora"),
    "deliveries/{id}",
)
.on("deliveries/{id}")
.watching(&["status", "attempts"])
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

pub(in crate::http::console) static RESEND_RANGE: ActionForm = ActionForm::new(
    "companies/{id}/deliveries/resend-range",
    Method::POST,
    "companies/{id}/deliveries/resend-range",
    Text::new("Send a range of time again", "Reenviar um intervalo de tempo"),
    "companies/{id}/deliveries",
)
.on("companies/{id}")
.about(
    "For a receiver that lost its database: sends again what was delivered or failed, with the same event ids. What still waits is left as it is. How many there are is shown first.",
    "Para um receptor que perdeu o banco de dados: reenvia o que foi entregue ou falhou, com os mesmos ids de evento. O que ainda espera fica como está. Antes é mostrado quantas são.",
)
.counted("companies/{id}/deliveries/resend-range/count")
.with(&[
    Input::new("since", "Events since", "Eventos desde").kind(InputKind::Moment),
    Input::new("until", "Events before", "Eventos antes de").kind(InputKind::Moment).optional(),
    Input::new("statuses", "How they ended (all unless chosen)", "Como terminaram (todas, se nada for escolhido)")
        .kind(InputKind::Words(|| EndedStatus::ALL.iter().map(|it| it.as_str()).collect()))
        .optional(),
    Input::new("eventTypes", "Types (all unless chosen)", "Tipos (todos, se nada for escolhido)")
        .kind(InputKind::Words(|| EventType::ALL.iter().map(|it| it.as_str()).collect()))
        .optional(),
]);

pub(in crate::http::console) static RESEND_MAIL: ActionForm = ActionForm::new(
    "mails/{id}/resend",
    Method::POST,
    "notices/{id}/resend",
    Text::new("Send again", "Enviar de novo"),
    "mails/{id}",
)
.on("notices/{id}")
.watching(&["status", "attempts"]);

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
)
.final_step();
