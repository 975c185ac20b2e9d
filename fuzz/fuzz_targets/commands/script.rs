//! The letters of a script.

use chrono::{Days, TimeDelta};
use preauth_core::Policy;
use preauth_core::operation::{
    Command, Credit, DirectAdvance, Invoice, InvoiceAmounts, KnownSupplier, Offer, OfferContext,
    OfferedSupplier, Operation, Party, ReprovedBy, State, decide_direct_advance, decide_offer,
};
use preauth_core::value::{
    Cnpj, CompanyId, DueDate, ExtensionId, Money, OperationId, Reason, Timestamp,
};

/// One command and its circumstances.
pub(crate) struct Step {
    pub(crate) command: Command,
    /// Another operation in progress with the same invoice.
    pub(crate) holder: Option<OperationId>,
    pub(crate) now: Timestamp,
}

/// The rest of a script.
pub(crate) struct Script<'a> {
    bytes: std::slice::Iter<'a, u8>,
    now: Timestamp,
    extensions: i64,
}

impl<'a> Script<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes: bytes.iter(),
            now: "2026-11-21T12:00:00Z".parse().expect("a moment"),
            extensions: 0,
        }
    }

    /// `d`: a direct advance; anything else: an offer.
    pub(crate) fn beginning(&mut self) -> Operation {
        let (context, offer) = (context(), offer());
        if self.bytes.next() != Some(&b'd') {
            let begun = decide_offer(&offer, &context, offer.payer, &Policy::default(), self.now);
            return begun.expect("nothing is wrong with the offer");
        }
        let advance = DirectAdvance {
            payer: offer.payer,
            supplier: offer.supplier.cnpj,
            invoice: offer.invoice,
            external_reference: None,
        };
        decide_direct_advance(&advance, &context, self.now).expect("nothing is wrong with it")
    }

    /// The next command. A capital letter stands for the same command with other arguments.
    pub(crate) fn step(&mut self, operation: &Operation) -> Option<Step> {
        let mut holder = None;
        let command = loop {
            let letter = *self.bytes.next()?;
            break match letter {
                b'r' => Command::Request,
                b'd' | b'D' => Command::Decline {
                    reason: reason(letter),
                },
                b'c' => Command::Cancel,
                b'w' | b'W' => Command::Withdraw {
                    reason: reason(letter),
                },
                b'e' => Command::Expire,
                b'v' => Command::Verify,
                b'a' => Command::Approve,
                b'l' => self.release(operation),
                b'p' => Command::Pay,
                b'y' => Command::ReturnPayout,
                b'b' => Command::Bill,
                b'k' => Command::Conclude,
                b'n' => reprove(ReprovedBy::Company, letter),
                b'N' => reprove(ReprovedBy::Platform, letter),
                b'u' => Command::Reopen,
                b'U' => {
                    holder = OperationId::new(7);
                    Command::Reopen
                }
                b'x' => self.create_extension(operation),
                b's' | b'S' => Command::ConcludeExtension {
                    id: extension(operation, letter),
                },
                b'z' | b'Z' => Command::CancelExtension {
                    id: extension(operation, letter),
                },
                b'+' => {
                    self.time_passes();
                    continue;
                }
                _ => continue,
            };
        };
        Some(Step {
            command,
            holder,
            now: self.now,
        })
    }

    /// `+` and a digit.
    fn time_passes(&mut self) {
        let day_ms = 86_400_000;
        let delta_ms = self.choose([1, day_ms, 10 * day_ms, 30 * day_ms, 200 * day_ms]);
        self.now = self.now.saturating_add(TimeDelta::milliseconds(delta_ms));
    }

    /// `l` and a digit: amounts on both sides of the bounds.
    fn release(&mut self, operation: &Operation) -> Command {
        let limit = operation.invoice.amounts.net_limit().cents();
        let cents = self.choose([limit, 1, 0, limit - 1, limit + 1]);
        Command::Release {
            net_amount: cents_of(cents),
        }
    }

    /// `x` and a digit: dates from one day to the next, and beyond every bound.
    fn create_extension(&mut self, operation: &Operation) -> Command {
        self.extensions += 1;
        let boleto = match &operation.state {
            State::ToReceive {
                boleto_due_date, ..
            } => *boleto_due_date,
            _ => operation.invoice.due_date,
        };
        let (days, cents) = self.choose([(1, 1), (30, 90_000), (0, 1), (300, 1), (1, 0)]);
        let day = boleto.date().checked_add_days(Days::new(days));
        Command::CreateExtension {
            id: ExtensionId::new(self.extensions).expect("counted from 1"),
            new_due_date: day.and_then(DueDate::from_date).unwrap_or(boleto),
            total_amount: cents_of(cents),
        }
    }

    fn choose<T: Copy>(&mut self, choices: [T; 5]) -> T {
        let digit = self.bytes.next().map_or(0, |byte| byte.wrapping_sub(b'0'));
        choices[usize::from(digit) % choices.len()]
    }
}

fn reason(letter: u8) -> Option<Reason> {
    letter
        .is_ascii_uppercase()
        .then(|| "Combinado com o fornecedor".parse().expect("a reason"))
}

fn reprove(by: ReprovedBy, letter: u8) -> Command {
    Command::Reprove {
        by,
        reason: reason(letter),
    }
}

/// The open extension; a capital letter names one that does not exist.
fn extension(operation: &Operation, letter: u8) -> ExtensionId {
    let open = match &operation.state {
        State::ToReceive { extension, .. } if letter.is_ascii_lowercase() => *extension,
        _ => None,
    };
    let nobody = ExtensionId::new(i64::MAX).expect("a number");
    open.map_or(nobody, |open| open.id)
}

fn offer() -> Offer {
    let amounts = InvoiceAmounts::from_cents(cents_of(100_000), cents_of(10_000));
    Offer {
        payer: company(1),
        supplier: OfferedSupplier {
            cnpj: cnpj("12ABC34501DE35"),
            email: "financeiro@fornecedor.example.com"
                .parse()
                .expect("an e-mail"),
            name: None,
            contact_name: None,
            phone: None,
        },
        invoice: Invoice {
            amounts: amounts.expect("within the bounds"),
            due_date: "2027-01-20".parse().expect("a day"),
            number: Some("NF-1".parse().expect("a number")),
        },
        external_reference: Some("PED-1".parse().expect("a reference")),
        file: None,
    }
}

fn context() -> OfferContext {
    OfferContext {
        payer: party(1, "11222333000181"),
        supplier: KnownSupplier::Registered(party(2, "12ABC34501DE35")),
        supplier_is_of_group: false,
        supplier_is_blocked: false,
        credit: Some(Credit {
            max_term_days: 180,
            max_invoice_amount: cents_of(100_000),
        }),
        holder: None,
        id: OperationId::new(1042).expect("a number"),
    }
}

fn party(number: u8, tax_id: &str) -> Party {
    Party {
        company: company(number),
        head_office: company(number),
        cnpj: cnpj(tax_id),
        name: "Exemplo Ltda.".parse().expect("a name"),
    }
}

fn company(number: u8) -> CompanyId {
    let text = format!("018f2f3a-0000-7000-8000-0000000000{number:02}");
    text.parse().expect("a uuid")
}

fn cnpj(text: &str) -> Cnpj {
    text.parse().expect("a tax id")
}

fn cents_of(cents: i64) -> Money {
    Money::from_cents(cents).expect("not negative")
}
