//! The schemas of the values in fields.

use preauth_core::value::{
    ApiKeyId, Cnpj, CompanyId, CompanyKind, CompanyName, ContactName, DeliveryId, DueDate, Email,
    EndpointId, EnumSet, EventId, ExtensionId, ExternalReference, InvoiceId, InvoiceNumber,
    KeyName, MailId, Money, OperationId, OperatorId, OperatorName, PaymentOrderId, PersonName,
    Phone, Reason, SuppressionId, TextEnum, Timestamp, UserId, Version,
};
use preauth_core::wire::{ExtensionData, Invoice, Open};

use super::schema::Schema;
use super::shape::{Member, Role, Shape, Text};
use super::shared;

/// Types whose schema is the same in answers and requests.
macro_rules! members {
    ($($($type:ty),+ => $schema:expr;)+) => {
        $($(impl Member for $type {
            fn schema(_: Role) -> Schema {
                $schema
            }
        })+)+
    };
}

members! {
    ApiKeyId, CompanyId, DeliveryId, EndpointId, EventId, MailId, OperatorId, SuppressionId, UserId => Schema::uuid("");
    DueDate => Schema::date("", "2027-01-20");
    Version => Schema::integer("", 1);
    bool => Schema::boolean("", true);
    String => Schema::text("", "");
    i64, u16, u32, u64 => Schema::integer("", 1);
}

/// Numbers of records, above zero in requests.
macro_rules! numbers {
    ($($type:ty = $example:literal),+ $(,)?) => {
        $(impl Member for $type {
            fn schema(role: Role) -> Schema {
                let number = Schema::integer("", $example);
                match role {
                    Role::Answer => number,
                    Role::Request => number.at_least(1),
                }
            }
        })+
    };
}

numbers!(
    OperationId = 42,
    ExtensionId = 3,
    PaymentOrderId = 5,
    InvoiceId = 7
);

/// Texts with bounds.
macro_rules! texts {
    ($($type:ty = $example:literal),+ $(,)?) => {
        $(impl Member for $type {
            fn schema(role: Role) -> Schema {
                let text = Schema::text("", $example);
                match role {
                    Role::Answer => text,
                    Role::Request => text.visible(Self::MIN_CHARS, Self::MAX_CHARS),
                }
            }
        })+
    };
}

texts!(
    CompanyName = "Construtora Exemplo S.A.",
    ContactName = "Bruno Lima",
    ExternalReference = "PEDIDO-1",
    InvoiceNumber = "NF-1",
    KeyName = "ERP",
    OperatorName = "Ana Souza",
    PersonName = "Ana Souza",
    Phone = "+55 11 5555-0100",
    Reason = "Sem interesse",
);

impl Member for Cnpj {
    fn schema(role: Role) -> Schema {
        match role {
            Role::Answer => Schema::text("", "11222333000181"),
            Role::Request => Schema::text(" With or without mask.", "11444777000161").typed_cnpj(),
        }
    }
}

impl Member for Email {
    fn schema(role: Role) -> Schema {
        match role {
            Role::Answer => Schema::email(""),
            Role::Request => Schema::email("").typed_email(),
        }
    }
}

impl Member for Timestamp {
    fn schema(role: Role) -> Schema {
        match role {
            Role::Answer => Schema::timestamp(""),
            Role::Request => Schema::timestamp("").typed_timestamp(),
        }
    }
}

/// In requests the amounts of the platform; those of offers have bounds of their own.
impl Member for Money {
    fn schema(role: Role) -> Schema {
        let amount = Schema::amount("", 900.0);
        match role {
            Role::Answer => amount,
            Role::Request => amount.at_least_half_a_cent().at_most(1_000_000_000),
        }
    }
}

/// The first member is the example, unless the field has another. Requests are closed.
impl<T: TextEnum> Member for Open<T> {
    fn schema(role: Role) -> Schema {
        let words: Vec<_> = T::ALL.iter().map(|member| member.as_str()).collect();
        let text = Schema::text("", words.first().copied().unwrap_or_default());
        match role {
            Role::Answer => text.words(words),
            Role::Request => text.closed(&words),
        }
    }
}

impl Member for CompanyKind {
    fn schema(role: Role) -> Schema {
        Open::<Self>::schema(role)
    }
}

/// The members that requests may choose from.
impl<T: TextEnum> Member for EnumSet<T> {
    fn schema(_: Role) -> Schema {
        Schema::array("", Open::<T>::schema(Role::Request)).items(0, 100)
    }
}

impl<T: Member> Member for Text<T> {
    fn schema(role: Role) -> Schema {
        T::schema(role)
    }
}

impl<T: Member> Member for Vec<T> {
    fn schema(role: Role) -> Schema {
        Schema::array("", T::schema(role))
    }
}

/// Null in answers, and by default in their example; absent or null in requests.
impl<T: Member> Member for Option<T> {
    fn schema(role: Role) -> Schema {
        match role {
            Role::Answer => T::schema(role).null(),
            Role::Request => T::schema(role).optional(),
        }
    }
}

impl Shape for Invoice {
    const NAME: &'static str = "Invoice";

    fn schema() -> Schema {
        shared::invoice()
    }
}

impl Member for Invoice {
    fn schema(_: Role) -> Schema {
        Schema::of::<Self>()
    }
}

impl Member for ExtensionData {
    fn schema(_: Role) -> Schema {
        Schema::answer("", shared::extension_fields())
    }
}
