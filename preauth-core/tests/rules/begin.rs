//! The order in which a create is decided: of several problems the first one answers.

use preauth_core::Policy;
use preauth_core::operation::{
    Credit, DirectAdvance, KnownSupplier, Offer, OfferContext, OfferedSupplier, Operation, Party,
    Rejection, State, decide_direct_advance, decide_offer,
};
use preauth_core::value::{
    ContactName, DueDate, Email, OperationId, Origin, SupplierName, Timestamp, Version,
};

use crate::given::{cents, company, day, moment, operation, party};

/// In São Paulo it is still 2026-11-20.
const NOW: &str = "2026-11-21T02:59:59.999Z";

/// Ways to be refused, in the order in which they must be reported.
const PROBLEMS: [&str; 8] = [
    "due date too near",
    "self",
    "blocked",
    "name missing",
    "term",
    "amount",
    "no analysis",
    "duplicate",
];

fn now() -> Timestamp {
    moment(NOW)
}

/// An offer that is accepted, with its surroundings.
fn accepted() -> (Offer, OfferContext) {
    let held = operation(State::InPreAuth);
    let offer = Offer {
        payer: held.payer.company,
        supplier: OfferedSupplier {
            cnpj: held.supplier.cnpj,
            email: Email::parse("to@example.com").unwrap(),
            name: Some(SupplierName::parse("Nova Ltda").unwrap()),
            contact_name: Some(ContactName::parse("Ana").unwrap()),
            phone: None,
        },
        invoice: held.invoice.clone(),
        external_reference: held.external_reference.clone(),
        file: None,
    };
    let context = OfferContext {
        payer: held.payer,
        supplier: KnownSupplier::Unknown,
        supplier_is_of_group: false,
        supplier_is_blocked: false,
        credit: Some(Credit {
            max_term_days: 180,
            max_invoice_amount: cents(1_000_000),
        }),
        holder: None,
        id: OperationId::new(77).unwrap(),
    };
    (offer, context)
}

fn add(problem: &str, offer: &mut Offer, context: &mut OfferContext) {
    let term_days = |context: &mut OfferContext, days| {
        if let Some(credit) = &mut context.credit {
            credit.max_term_days = days;
        }
    };
    match problem {
        "due date too near" => offer.invoice.due_date = day("2026-11-24"),
        "self" => offer.supplier.cnpj = context.payer.cnpj,
        "blocked" => context.supplier_is_blocked = true,
        "name missing" => offer.supplier.contact_name = None,
        "term" => term_days(context, 1),
        "amount" => {
            if let Some(credit) = &mut context.credit {
                credit.max_invoice_amount = cents(999_999);
            }
        }
        "no analysis" => context.credit = None,
        "duplicate" => context.holder = Some(operation(State::ToPay)),
        other => panic!("no such problem: {other}"),
    }
}

fn decide(offer: &Offer, context: &OfferContext) -> Result<Operation, Rejection> {
    decide_offer(offer, context, company(99), &Policy::default(), now())
}

#[test]
fn of_any_problems_together_the_first_in_order_answers() {
    for chosen in 1_u32..1 << PROBLEMS.len() {
        let (mut offer, mut context) = accepted();
        let is_chosen = |bit: u32| chosen >> bit & 1 == 1;
        let problems: Vec<_> = (0..)
            .zip(PROBLEMS)
            .filter(|(bit, _)| is_chosen(*bit))
            .collect();
        for (_, problem) in &problems {
            add(problem, &mut offer, &mut context);
        }
        let has = |name| problems.iter().any(|(_, problem)| *problem == name);
        // Without an analysis there is no term to exceed.
        let first = if problems[0].1 == "term" && has("no analysis") {
            "no analysis"
        } else {
            problems[0].1
        };
        let expected = match first {
            "due date too near" => Rejection::DueDateTooNear,
            "self" => Rejection::SupplierIsSelf,
            "blocked" => Rejection::SupplierBlocked,
            "name missing" => Rejection::SupplierNameRequired,
            "term" => Rejection::CreditTermExceeded,
            "amount" | "no analysis" => Rejection::CreditAmountExceeded,
            _ => Rejection::DuplicateInvoice {
                existing: OperationId::new(1).unwrap(),
            },
        };
        assert_eq!(decide(&offer, &context), Err(expected), "{problems:?}");
    }
}

// Contract: create-body/invoice.dueDate
#[test]
fn a_due_date_lies_5_to_180_days_ahead_by_the_calendar_of_sao_paulo() {
    let cases = [
        ("2026-11-20", Err(Rejection::DueDateTooNear)),
        ("2026-11-24", Err(Rejection::DueDateTooNear)),
        ("2026-11-25", Ok(())),
        ("2027-05-19", Ok(())),
        ("2027-05-20", Err(Rejection::DueDateTooFar)),
        ("9999-12-31", Err(Rejection::DueDateTooFar)),
        ("0000-01-01", Err(Rejection::DueDateTooNear)),
    ];
    for (due_date, expected) in cases {
        let (mut offer, context) = accepted();
        offer.invoice.due_date = day(due_date);
        assert_eq!(decide(&offer, &context).map(|_| ()), expected, "{due_date}");
    }
}

#[test]
fn a_due_date_that_is_too_far_answers_before_everything_else() {
    let (mut offer, mut context) = accepted();
    for problem in &PROBLEMS[1..] {
        add(problem, &mut offer, &mut context);
    }
    offer.invoice.due_date = day("2027-05-20");
    assert_eq!(decide(&offer, &context), Err(Rejection::DueDateTooFar));
}

#[test]
fn the_credit_analysis_allows_its_own_bounds() {
    let (mut offer, mut context) = accepted();
    let term = 101;
    context.credit = Some(Credit {
        max_term_days: term,
        max_invoice_amount: offer.invoice.amounts.amount(),
    });
    assert!(
        decide(&offer, &context).is_ok(),
        "2027-03-01 is 101 days ahead"
    );
    offer.invoice.due_date = DueDate::parse("2027-03-02").unwrap();
    assert_eq!(decide(&offer, &context), Err(Rejection::CreditTermExceeded));
}

#[test]
fn a_branch_of_the_payers_group_is_the_payer_itself() {
    let (mut offer, mut context) = accepted();
    let branch = Party {
        head_office: context.payer.head_office,
        ..party(5, "12ABC34501DE35")
    };
    offer.supplier.cnpj = branch.cnpj;
    context.supplier = KnownSupplier::Registered(branch);
    assert_eq!(decide(&offer, &context), Err(Rejection::SupplierIsSelf));
}

#[test]
fn every_branch_of_a_legal_entity_of_the_group_is_the_payer_itself() {
    let (mut offer, context) = accepted();
    // Another branch of the payer's root, which nobody registered.
    offer.supplier.cnpj = party(5, "11222333000262").cnpj;
    assert_eq!(decide(&offer, &context), Err(Rejection::SupplierIsSelf));
    // Registered by somebody else, it is still the same company.
    let (mut offer, mut context) = accepted();
    let registered = party(5, "11222333000262");
    offer.supplier.cnpj = registered.cnpj;
    context.supplier = KnownSupplier::Registered(registered);
    assert_eq!(decide(&offer, &context), Err(Rejection::SupplierIsSelf));
    // Of another root that has a company in the group.
    let (offer, mut context) = accepted();
    context.supplier_is_of_group = true;
    assert_eq!(decide(&offer, &context), Err(Rejection::SupplierIsSelf));
}

#[test]
fn a_registered_supplier_needs_no_name_and_keeps_its_own() {
    let (mut offer, mut context) = accepted();
    let known = party(5, "12ABC34501DE35");
    let nameless = {
        offer.supplier.name = None;
        offer.supplier.contact_name = None;
        offer.clone()
    };
    let (named, _) = accepted();
    for known_as in [KnownSupplier::Registered, KnownSupplier::Invited] {
        context.supplier = known_as(known.clone());
        for offer in [&named, &nameless] {
            let begun = decide(offer, &context);
            assert_eq!(begun.map(|begun| begun.supplier), Ok(known.clone()));
        }
    }
}

#[test]
fn a_supplier_that_others_invited_needs_a_name_and_is_the_same_company() {
    let (mut offer, mut context) = accepted();
    context.supplier = KnownSupplier::InvitedByOthers(company(5));
    let begun = decide(&offer, &context).unwrap().supplier;
    assert_eq!((begun.company, begun.head_office), (company(5), company(5)));
    assert_eq!(begun.name.as_str(), "Nova Ltda");
    offer.supplier.name = None;
    let refused = decide(&offer, &context);
    assert_eq!(refused, Err(Rejection::SupplierNameRequired));
}

#[test]
fn an_accepted_offer_begins_as_it_was_made() {
    let (offer, context) = accepted();
    let begun = decide(&offer, &context).unwrap();
    assert_eq!((begun.id, begun.version), (context.id, Version::INITIAL));
    assert_eq!(
        (begun.origin, &begun.state),
        (Origin::PreAuth, &State::InPreAuth)
    );
    assert_eq!(
        (&begun.payer, &begun.invoice),
        (&context.payer, &offer.invoice)
    );
    assert_eq!(begun.external_reference, offer.external_reference);
    assert_eq!((begun.created_at, begun.net_amount), (now(), None));
    assert_eq!(begun.expires_at, Some(moment("2026-12-21T02:59:59.999Z")));
    assert_eq!(begun.supplier.company, company(99));
    assert_eq!(begun.supplier.head_office, company(99));
    assert_eq!(begun.supplier.name.as_str(), "Nova Ltda");
}

#[test]
fn a_direct_advance_knows_neither_credit_nor_block_list_nor_due_date() {
    let (offer, mut context) = accepted();
    let advance = DirectAdvance {
        payer: offer.payer,
        supplier: offer.supplier.cnpj,
        invoice: offer.invoice,
        external_reference: None,
    };
    let mut near = advance.clone();
    near.invoice.due_date = day("2026-11-20");
    let known = party(5, "12ABC34501DE35");
    for unregistered in [
        KnownSupplier::Unknown,
        KnownSupplier::InvitedByOthers(known.company),
        KnownSupplier::Invited(known.clone()),
    ] {
        context.supplier = unregistered;
        let refused = decide_direct_advance(&near, &context, now());
        assert_eq!(refused, Err(Rejection::SupplierNameRequired));
    }
    context.supplier = KnownSupplier::Registered(known);
    context.supplier_is_blocked = true;
    context.credit = None;
    let begun = decide_direct_advance(&near, &context, now()).unwrap();
    assert_eq!(
        (begun.origin, begun.state),
        (Origin::Direct, State::InVerification)
    );
    assert_eq!((begun.expires_at, begun.net_amount), (None, None));
    let holder = operation(State::InVerification);
    let existing = holder.id;
    context.holder = Some(holder);
    let refused = decide_direct_advance(&near, &context, now());
    assert_eq!(refused, Err(Rejection::DuplicateInvoice { existing }));
    let mut own = advance;
    own.supplier = context.payer.cnpj;
    let refused = decide_direct_advance(&own, &context, now());
    assert_eq!(refused, Err(Rejection::SupplierIsSelf));
}
