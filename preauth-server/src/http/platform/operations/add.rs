//! POST /operations: a registered supplier advances an invoice directly, without an offer.

use preauth_core::ErrorCode;
use preauth_core::operation::{Actor, DirectAdvance, Invoice, Operation};
use preauth_core::service::{OfferOutcome, PlatformKey, ReplyOf};
use preauth_core::value::{Cnpj, CompanyId, ExternalReference, FingerprintBuilder, InvoiceNumber};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::http::convert::{self, Texts};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Problems};
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::platform::calling_operator::CallingOperator;
use crate::http::platform::create::Create;
use crate::http::platform::sections::OPERATIONS;
use crate::http::platform::{PlatformApi, lookup};
use crate::http::reply::Reply;
use crate::http::requested::{Requested as _, RequestedObject};
use crate::log;

use super::shape::{NewDirectAdvance, OperationShape};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = DirectAdvance;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(OPERATIONS, "addOperation", "A supplier advances an invoice directly")
            .note("Held to the rules of its values, to the duplicate rule and to \"supplier is not oneself\"; not to due-date range, credit and block list.")
            .body("The advance.", Schema::of::<NewDirectAdvance>())
            .answers(201, "Begun, IN_VERIFICATION.", Schema::of::<OperationShape>())
            .refuses(&[
                ErrorCode::ResourceNotFound,
                ErrorCode::ResourceConflict,
                ErrorCode::PreAuthDuplicateInvoice,
                ErrorCode::PreAuthSupplierSelf,
            ])
    }

    fn describe(&self, new: &DirectAdvance, parts: &mut FingerprintBuilder) {
        let DirectAdvance {
            payer,
            supplier,
            invoice,
            external_reference,
        } = new;
        let Invoice {
            amounts,
            due_date,
            number,
        } = invoice;
        parts.part(Some(&payer.to_string()));
        parts.part(Some(supplier.as_str()));
        parts.part(Some(&amounts.amount().cents().to_string()));
        parts.part(Some(&amounts.withheld_tax().cents().to_string()));
        parts.part(Some(&due_date.to_string()));
        parts.text(number.as_ref().map(InvoiceNumber::as_str));
        parts.text(external_reference.as_ref().map(ExternalReference::as_str));
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: DirectAdvance,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        lookup::parties(api, new.payer, &new.supplier).await?;
        let now = api.clock.now();
        let shown = |operation: &Operation| convert::text(&OperationShape::from(operation));
        let reply = key.map(|key| move |operation: &Operation| key.reply(shown(operation)));
        let reply = reply
            .as_ref()
            .map(|reply| -> &ReplyOf<'_, Operation> { reply });
        let offered = CallingOperator::operations(api, req)?
            .advance_directly(&new, Actor::Supplier, reply, now)
            .await?;
        let OfferOutcome::Created { operation, .. } = offered else {
            return Err(ApiError::internal("a direct advance was replayed"));
        };
        log::began(&operation, Some(&CallingOperator::of(req)?.name));
        Ok(Reply::json(StatusCode::CREATED, shown(&operation)))
    }
}

impl RequestedObject for DirectAdvance {
    fn members(body: Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let payer = CompanyId::read(body, "payerCompanyId", problems);
        let supplier = Cnpj::read(body, "supplierCnpj", problems);
        let invoice = body
            .object("invoice", problems)
            .and_then(|fields| convert::invoice(fields, false, Texts::Sent, problems));
        let external_reference = Option::read(body, "externalReference", problems);
        Some(Self {
            payer: payer?,
            supplier: supplier?,
            invoice: invoice?,
            external_reference: external_reference?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{DirectAdvance, RequestedObject as _};
    use crate::http::json::Json;

    #[test]
    fn an_invoice_of_a_direct_advance_may_have_no_number() {
        let body = br#"{
            "payerCompanyId": "018f2f3a-0000-7000-8000-000000000001",
            "supplierCnpj": "12.ABC.345/01DE-35",
            "invoice": {"amount": 12500, "dueDate": "2027-01-20"}
        }"#;
        let advance = DirectAdvance::parse(&Json::parse(body).unwrap()).unwrap();
        assert_eq!(advance.invoice.number, None);
        assert_eq!(advance.external_reference, None);
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"payerCompanyId": "1", "invoice": {"amount": 1, "dueDate": "amanha"}}"#;
        let found = DirectAdvance::parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        let expected = [
            "payerCompanyId",
            "supplierCnpj",
            "invoice.dueDate",
            "invoice.amount",
        ];
        assert_eq!(fields, expected);
    }
}
