//! Why an operation was closed: what a person gave as the reason, or the API's own text, in the reader's language.

use preauth_core::operation::Action;

use crate::http::pages::words::Words;
use crate::language::Language;

/// The reason for readers of English, too, unless a person wrote it.
pub(super) fn shown(reason: &str, w: Words) -> &str {
    match w.0 {
        Language::Portuguese => reason,
        Language::English => english(reason).unwrap_or(reason),
    }
}

fn english(reason: &str) -> Option<&'static str> {
    let is_own = |action: &Action| action.transition().default_reason == Some(reason);
    Action::ALL.iter().copied().find(is_own).and_then(text)
}

/// For actions that close an operation.
const fn text(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Decline => "Declined by the supplier",
        Action::Cancel => "Canceled by the integration",
        Action::Withdraw => "Canceled by the construction company",
        Action::Expire => "Offer expired",
        Action::ReproveByCompany => "Reproved by the construction company",
        Action::ReproveByPlatform => "Reproved by the platform",
        Action::Offer
        | Action::AdvanceDirectly
        | Action::Request
        | Action::Verify
        | Action::Approve
        | Action::Release
        | Action::Pay
        | Action::ReturnPayout
        | Action::Bill
        | Action::Conclude
        | Action::Reopen
        | Action::CreateExtension
        | Action::ConcludeExtension
        | Action::CancelExtension => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Action, Language, Words, shown};

    #[test]
    fn every_text_of_the_api_has_an_english_one_and_a_person_s_stays() {
        let (en, pt) = (Words(Language::English), Words(Language::Portuguese));
        let own = Action::ALL
            .iter()
            .filter_map(|it| it.transition().default_reason);
        for reason in own {
            assert_ne!(shown(reason, en), reason);
            assert_eq!(shown(reason, pt), reason);
        }
        assert_eq!(shown("Sem interesse", en), "Sem interesse");
    }
}
