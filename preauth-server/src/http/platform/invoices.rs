//! `/invoices`: invoices that suppliers issued and the platform received.

use preauth_core::service::PlatformKey;
use preauth_core::value::{
    Cnpj, CompanyId, DueDate, FingerprintBuilder, InvoiceId, InvoiceNumber, Money, Timestamp,
};
use preauth_core::{ErrorCode, ReceivedInvoice};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::openapi::shape::{Text, answer, request};
use crate::http::reply::Reply;
use crate::http::{convert, path_id};

use super::calling_operator::CallingOperator;
use super::create::Create;
use super::endpoint::{Endpoint, existing, ok};
use super::party::PartyShape;
use super::sections::RECORDS;
use super::{PlatformApi, lookup, paging};

answer! {
    /// An invoice that arrived on the platform.
    #[derive(Debug)]
    pub(crate) struct InvoiceShape = "ReceivedInvoice" {
        /// The invoice's id.
        id: InvoiceId,
        payer: PartyShape,
        supplier: PartyShape,
        invoice: InvoiceData,
        /// When it was received.
        created_at: Timestamp,
    }
}

answer! {
    /// The invoice.
    #[derive(Debug)]
    pub(crate) struct InvoiceData {
        /// Gross amount in reais.
        amount: Money,
        /// When the company pays the invoice, YYYY-MM-DD.
        due_date: DueDate,
        /// Number of the invoice.
        number: Option<Text<InvoiceNumber>> = "NF-1",
    }
}

impl From<&ReceivedInvoice> for InvoiceShape {
    fn from(received: &ReceivedInvoice) -> Self {
        Self {
            id: received.id,
            payer: (&received.payer).into(),
            supplier: (&received.supplier).into(),
            invoice: InvoiceData {
                amount: received.amount,
                due_date: received.due_date,
                number: Some((&received.number).into()),
            },
            created_at: received.received_at,
        }
    }
}

request! {
    /// An invoice.
    #[derive(Debug)]
    pub(crate) struct NewInvoice = "NewReceivedInvoice" {
        /// A construction company.
        payer_company_id: CompanyId,
        /// A registered supplier.
        supplier_cnpj: Cnpj,
        invoice: NewInvoiceData,
    }
}

request! {
    /// The invoice.
    #[derive(Debug)]
    pub(crate) struct NewInvoiceData {
        /// Gross amount in reais.
        amount: Money,
        /// When the company pays the invoice, YYYY-MM-DD.
        due_date: DueDate,
        /// Number of the invoice.
        number: InvoiceNumber,
    }
}

/// Newest first.
#[derive(Clone, Copy)]
pub(super) struct List;

#[async_trait]
impl Endpoint for List {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(RECORDS, "listInvoices", "List received invoices")
            .paged()
            .answers(200, "Newest first.", Schema::list_of::<InvoiceShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let page = paging::page(req)?;
        let found = api.directory.invoices(page).await?;
        Ok(paging::reply(&found, page, |each| InvoiceShape::from(each)))
    }
}

/// Records a received invoice and notifies its payer by an event.
#[derive(Clone, Copy)]
pub(super) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewInvoice;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(RECORDS, "addInvoice", "An invoice was received")
            .body("The invoice.", Schema::of::<NewInvoice>())
            .answers(201, "Recorded.", Schema::of::<InvoiceShape>())
            .refuses(&[
                ErrorCode::ResourceNotFound,
                ErrorCode::ResourceConflict,
                ErrorCode::PreAuthSupplierSelf,
            ])
    }

    fn describe(&self, new: &NewInvoice, parts: &mut FingerprintBuilder) {
        let NewInvoice {
            payer_company_id,
            supplier_cnpj,
            invoice,
        } = new;
        let NewInvoiceData {
            amount,
            due_date,
            number,
        } = invoice;
        parts.part(Some(&payer_company_id.to_string()));
        parts.part(Some(supplier_cnpj.as_str()));
        parts.part(Some(&amount.cents().to_string()));
        parts.part(Some(&due_date.to_string()));
        parts.text(Some(number.as_str()));
    }

    async fn create(
        &self,
        api: &PlatformApi,
        req: &Request,
        new: NewInvoice,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let (payer, supplier) =
            lookup::parties(api, new.payer_company_id, &new.supplier_cnpj).await?;
        let invoice = ReceivedInvoice {
            id: api.directory.reserve_invoice().await?,
            payer: payer.party(),
            supplier: supplier.party(),
            amount: new.invoice.amount,
            due_date: new.invoice.due_date,
            number: new.invoice.number,
            received_at: api.clock.now(),
        };
        let body = convert::text(&InvoiceShape::from(&invoice));
        let reply = key.map(|key| key.reply(body.clone()));
        let endpoint = api.directory.endpoint(invoice.payer.head_office).await?;
        let subscription = endpoint.as_ref().map(directory::Endpoint::subscription);
        CallingOperator::operations(api, req)?
            .receive_invoice(&invoice, subscription.as_slice(), reply)
            .await?;
        Ok(Reply::json(StatusCode::CREATED, body))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Find;

#[async_trait]
impl Endpoint for Find {
    fn document(&self, operation: Described) -> Described {
        operation
            .titled(RECORDS, "getInvoice", "Get a received invoice")
            .number("The invoice's id.", ErrorCode::ResourceNotFound)
            .answers(200, "The invoice.", Schema::of::<InvoiceShape>())
    }

    async fn answer(&self, api: &PlatformApi, req: &mut Request) -> Result<Reply, ApiError> {
        let id = path_id::number(req, InvoiceId::parse)?;
        let found = api.directory.invoice(id).await?;
        let invoice = existing(found)?;
        Ok(ok(&InvoiceShape::from(&invoice)))
    }
}

#[cfg(test)]
mod tests {
    use super::NewInvoice;
    use crate::http::json::Json;
    use crate::http::requested::RequestedObject as _;

    #[test]
    fn an_invoice_may_be_of_any_amount_above_zero() {
        let body = br#"{
            "payerCompanyId": "018f2f3a-0000-7000-8000-000000000001",
            "supplierCnpj": "12.ABC.345/01DE-35",
            "invoice": {"amount": 0.01, "dueDate": "2020-01-20", "number": " NF-1 "}
        }"#;
        let new = NewInvoice::parse(&Json::parse(body).unwrap()).unwrap();
        assert_eq!(new.invoice.amount.cents(), 1);
        assert_eq!(new.invoice.number.as_str(), "NF-1");
    }

    #[test]
    fn every_problem_is_reported() {
        let body = br#"{"payerCompanyId": 1, "invoice": {"amount": 0, "dueDate": "amanha"}}"#;
        let found = NewInvoice::parse(&Json::parse(body).unwrap()).unwrap_err();
        let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
        let expected = [
            "payerCompanyId",
            "supplierCnpj",
            "invoice.amount",
            "invoice.dueDate",
            "invoice.number",
        ];
        assert_eq!(fields, expected);
    }
}
