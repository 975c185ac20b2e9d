//! POST /companies: registers a company.

use preauth_core::ErrorCode;
use preauth_core::access::{HeadOffice, decide_branch};
use preauth_core::service::PlatformKey;
use preauth_core::value::{CompanyId, CompanyKind, FingerprintBuilder, Timestamp};
use salvo::async_trait;
use salvo::http::{Request, StatusCode};

use crate::directory::{Company, DirectoryError};
use crate::http::convert;
use crate::http::error::ApiError;
use crate::http::openapi::described::Described;
use crate::http::openapi::schema::Schema;
use crate::http::platform::create::Create;
use crate::http::platform::lookup::refuse_invited;
use crate::http::platform::sections::COMPANIES;
use crate::http::platform::{PlatformApi, Refusal};
use crate::http::reply::Reply;

use super::shape::{CompanyShape, NewCompany};

/// Attempts to register a company while an offer creates the same tax id; that can happen once.
const ROUNDS: usize = 3;

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
        if let Some(head_office) = new.head_office_id {
            let head_office = api.directory.company(head_office).await?;
            let head_office = head_office.ok_or(Refusal::HeadOfficeUnknown)?;
            refuse_invited(&head_office)?;
            refuse_as_branch(new.kind, &head_office)?;
        }
        for _ in 0..ROUNDS {
            let company = company(api, &new).await?;
            let body = convert::text(&CompanyShape::from(&company));
            let reply = key.map(|key| key.reply(body.clone()));
            match api.directory.add_company(&company, reply.as_ref()).await {
                Ok(()) => return Ok(Reply::json(StatusCode::CREATED, body)),
                // An offer may have created the tax id since the look-up.
                Err(DirectoryError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Refusal::CnpjRegistered.into())
    }
}

/// The company to register: with a new id, or with the id of an invited supplier, whose offers it
/// takes over.
async fn company(api: &PlatformApi, new: &NewCompany) -> Result<Company, ApiError> {
    let now = api.clock.now();
    match api.directory.company_by_cnpj(&new.cnpj).await? {
        None => Ok(new.company(CompanyId::new(api.ids.uuid(now)), now)),
        Some(known) if known.is_invited => Ok(Company {
            suspension: known.suspension,
            ..new.company(known.id, now)
        }),
        Some(_) => Err(Refusal::CnpjRegistered.into()),
    }
}

impl NewCompany {
    fn company(&self, id: CompanyId, created_at: Timestamp) -> Company {
        Company {
            id,
            cnpj: self.cnpj,
            name: self.name.clone(),
            kind: self.kind,
            head_office: self.head_office_id,
            contact: None,
            is_invited: false,
            created_at,
            suspension: None,
        }
    }
}

fn refuse_as_branch(kind: CompanyKind, head_office: &Company) -> Result<(), Refusal> {
    let head_office = HeadOffice {
        kind: head_office.kind,
        head_office: head_office.head_office,
    };
    Ok(decide_branch(kind, head_office)?)
}

#[cfg(test)]
mod tests {
    use super::{Company, CompanyKind, NewCompany, Refusal, refuse_as_branch};
    use crate::http::json::Json;
    use crate::http::problem::{Defect, Problem};
    use crate::http::requested::RequestedObject as _;
    use preauth_core::value::{CompanyId, Timestamp};
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
        let validate = |company| refuse_as_branch(kind, &company);
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
