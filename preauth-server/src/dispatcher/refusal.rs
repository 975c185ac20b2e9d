//! Why an endpoint's URL is refused, in the words that its company reads.

use thiserror::Error;

/// What is wrong with an endpoint's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UrlRefusal {
    /// Nothing was given.
    #[error("url is empty")]
    Empty,
    /// More than 2,048 bytes.
    #[error("url is longer than 2,048 bytes")]
    TooLong,
    /// White space, a control character or a backslash.
    #[error("url holds white space, a control character or a backslash")]
    Character,
    /// Another scheme than the policy allows, or none.
    #[error("url does not begin with an allowed scheme")]
    Scheme,
    /// Names a user or a password, be they empty.
    #[error("url holds a user or a password")]
    UserInfo,
    /// A percent sign in the host.
    #[error("url holds a percent sign in its host")]
    PercentInHost,
    /// Another port than the policy allows, or one spelled unusually.
    #[error("url names a port that is not allowed")]
    Port,
    /// A fragment, which no request carries.
    #[error("url holds a fragment")]
    Fragment,
    /// No host, or none that could be one.
    #[error("url holds no valid host name")]
    Host,
    /// A name of one label, which search domains would complete.
    #[error("host name has a single label")]
    SingleLabel,
    /// A name that is reserved for other uses than public ones.
    #[error("host name is reserved for special use")]
    ReservedName,
    /// An address in a form that some read as another one.
    #[error("address is not in its canonical form")]
    AddressForm,
    /// An address that is not public.
    #[error("address is not public")]
    AddressNotPublic,
}

impl UrlRefusal {
    /// The sentence that the caller of the platform API reads.
    #[must_use]
    pub const fn reason_pt(self) -> &'static str {
        match self {
            Self::Empty => "Informe a URL do endpoint.",
            Self::TooLong => "A URL deve ter no máximo 2.048 bytes.",
            Self::Character => {
                "A URL não pode conter espaços, caracteres de controle nem barras invertidas."
            }
            Self::Scheme => "A URL deve começar com https://.",
            Self::UserInfo => "A URL não pode conter usuário nem senha.",
            Self::PercentInHost => "O nome do servidor na URL não pode conter o caractere %.",
            Self::Port => "A URL deve usar a porta 443.",
            Self::Fragment => "A URL não pode conter fragmento (#).",
            Self::Host => "A URL não contém um nome de servidor válido.",
            Self::SingleLabel => {
                "O nome do servidor deve ser completo, com domínio, como hooks.exemplo.com.br."
            }
            Self::ReservedName => {
                "O nome do servidor pertence a um domínio reservado, que não é público."
            }
            Self::AddressForm => "O endereço IP da URL deve estar na forma canônica.",
            Self::AddressNotPublic => "O endereço IP da URL não é público.",
        }
    }
}
