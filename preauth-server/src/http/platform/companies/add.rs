//! POST /companies: registers a company.

use preauth_core::ErrorCode;
use preauth_core::service::PlatformKey;
use preauth_core::value::{CompanyId, FingerprintBuilder, Timestamp};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::{self, Company, RegistrationError};
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::platform::create::Create;
use crate::http::platform::sections::COMPANIES;
use crate::http::platform::{PlatformApi, Refusal};
use crate::http::reply::Reply;

use super::shape::{CompanyShape, NewCompany};

#[derive(Clone, Copy)]
pub(in crate::http::platform) struct Add;

#[async_trait]
impl Create for Add {
    type New = NewCompany;

    fn document(&self, operation: Described) -> Described {
        operation
            .titled(COMPANIES, "addCompany", "Register a company")
            .note(
                "With `headOfficeId` a branch, which is of the same kind as its head office. A \
                 supplier that companies invited keeps its id, and its offers show the name \
                 that is registered.",
            )
            .body("The company.", Schema::of::<NewCompany>())
            .answers(201, "Registered.", Schema::of::<CompanyShape>())
            .refuses(&[
                ErrorCode::ResourceNotFound,
                ErrorCode::ResourceConflict,
                ErrorCode::SupplierNotRegistered,
            ])
    }

    fn describe(&self, new: &NewCompany, parts: &mut FingerprintBuilder) {
        let NewCompany {
            cnpj,
            name,
            kind,
            head_office_id,
        } = new;
        parts.part(Some(cnpj.as_str()));
        parts.text(Some(name.as_str()));
        parts.part(Some(kind.as_str()));
        parts.part(head_office_id.map(|id| id.to_string()).as_ref());
    }

    async fn create(
        &self,
        api: &PlatformApi,
        _req: &Request,
        new: NewCompany,
        key: Option<&PlatformKey>,
    ) -> Result<Reply, ApiError> {
        let now = api.clock.now();
        let company = new.company(CompanyId::new(api.ids.uuid(now)), now);
        let shown = |company: &Company| convert::text(&CompanyShape::from(company));
        let reply = |company: &Company| key.map(|key| key.reply(shown(company)));
        let registered = directory::register(&*api.directory, company, &reply).await;
        let company = registered.map_err(refused)?;
        Ok(Reply::json(StatusCode::CREATED, shown(&company)))
    }
}

fn refused(error: RegistrationError) -> ApiError {
    match error {
        RegistrationError::HeadOfficeUnknown => Refusal::HeadOfficeUnknown.into(),
        RegistrationError::Branch(rejection) => Refusal::from(rejection).into(),
        RegistrationError::Taken(rejection) => Refusal::from(rejection).into(),
        RegistrationError::Directory(error) => error.into(),
    }
}

impl NewCompany {
    fn company(self, id: CompanyId, created_at: Timestamp) -> Company {
        Company {
            id,
            cnpj: self.cnpj,
            name: self.name,
            kind: self.kind,
            head_office: self.head_office_id,
            contact: None,
            is_invited: false,
            created_at,
            suspension: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Company, NewCompany, Refusal};
    use crate::http::json::Json;
    use crate::http::problem::{Defect, Problem};
    use crate::http::requested::RequestedObject as _;
    use preauth_core::access::decide_branch;
    use preauth_core::value::{CompanyId, CompanyKind, Timestamp};
    use uuid::Uuid;

    fn problems(body: &str) -> Vec<Problem> {
        NewCompany::parse(&Json::parse(body.as_bytes()).unwrap()).unwrap_err()
    }

    fn company(kind: &str, head_office: Option<CompanyId>) -> Company {
        let body = format!(r#"{{"cnpj": "11222333000181", "name": "C", "kind": "{kind}"}}"#);
        let new = NewCompany::parse(&Json::parse(body.as_bytes()).unwrap()).unwrap();
        let mut company = new.company(CompanyId::new(Uuid::from_u128(1)), Timestamp::MIN);
        company.head_office = head_office;
        company
    }

    // Contract: operation/payer.cnpj
    #[test]
    fn only_suppliers_have_letters_in_their_tax_id() {
        let body = r#"{"cnpj": "12.ABC.345/01DE-35", "name": "C", "kind": "CONSTRUCTION"}"#;
        let expected = [Problem::new("cnpj", Defect::CnpjNotNumeric)];
        assert_eq!(problems(body), expected);
        let wrong_too = body.replace('}', r#", "headOfficeId": "7"}"#);
        let [cnpj] = expected;
        let expected = [cnpj, Problem::new("headOfficeId", Defect::NotAnId)];
        assert_eq!(problems(&wrong_too), expected);
        let supplier = body.replace("CONSTRUCTION", "SUPPLIER");
        assert!(NewCompany::parse(&Json::parse(supplier.as_bytes()).unwrap()).is_ok());
    }

    #[test]
    fn every_problem_is_reported() {
        let kinds = Defect::NotAmong(vec!["CONSTRUCTION", "SUPPLIER"]);
        assert_eq!(
            problems(r#"{"cnpj": null, "name": 5, "kind": "construction", "headOfficeId": "7"}"#),
            [
                Problem::new("cnpj", Defect::Required),
                Problem::new("name", Defect::NotAString),
                Problem::new("kind", kinds),
                Problem::new("headOfficeId", Defect::NotAnId),
            ]
        );
    }

    #[test]
    fn a_branch_is_of_its_head_offices_kind_and_has_no_branches() {
        let head_office = CompanyId::new(Uuid::from_u128(2));
        let kind = CompanyKind::Construction;
        let validate =
            |company: Company| decide_branch(kind, &company.known()).map_err(Refusal::from);
        assert_eq!(validate(company("CONSTRUCTION", None)), Ok(()));
        let differs = Refusal::KindDiffers {
            kind: CompanyKind::Supplier,
        };
        assert_eq!(validate(company("SUPPLIER", None)), Err(differs));
        assert_eq!(
            validate(company("CONSTRUCTION", Some(head_office))),
            Err(Refusal::HeadOfficeIsBranch { head_office })
        );
    }
}
