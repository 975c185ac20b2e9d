//! What a database has once everything in it has had some use.

use preauth_core::access::OperatorRole;
use preauth_core::operation::{Command, ReprovedBy};
use preauth_core::payment_order::OrderCommand;
use preauth_core::value::{
    ApiKeyId, Cnpj, KeyName, Money, OperatorId, OperatorName, Reason, Scope, UserId, calendar,
};
use preauth_server::access::KeyHash;
use preauth_server::directory::{ApiKey, Operator};
use uuid::Uuid;

use super::{LONG_AGO, PAYER, World, company};

impl World {
    pub(super) async fn leave_one_in_each_status(&self) {
        let now = self.now;
        let net_amount = Money::from_cents(1_200_000).unwrap();
        let way = [
            Command::Request,
            Command::Approve,
            Command::Release { net_amount },
            Command::Pay,
        ];
        for last in 1..=way.len() {
            let id = self.offer(&format!("ON-ITS-WAY-{last}"), None, now).await;
            for command in &way[..last] {
                self.command(id, command.clone(), now).await;
            }
        }
        let reason = || Some(Reason::parse("Sem interesse").unwrap());
        let by = ReprovedBy::Platform;
        let reproved = Command::Reprove {
            by,
            reason: reason(),
        };
        for (number, ending) in [
            ("DECLINED", vec![Command::Decline { reason: reason() }]),
            ("WITHDRAWN", vec![Command::Withdraw { reason: None }]),
            (
                "REPROVED",
                vec![Command::Request, Command::Approve, reproved],
            ),
            ("RETURNED", [&way[..], &[Command::ReturnPayout]].concat()),
        ] {
            let id = self.offer(number, None, now).await;
            for command in ending {
                self.command(id, command, now).await;
            }
        }
        let verified = self.advance("VERIFIED", now).await;
        self.command(verified, Command::Verify, now).await;
        self.advance("UNVERIFIED", now).await;
        let on = Some(calendar::today(now));
        for commands in [
            vec![],
            vec![OrderCommand::Review],
            vec![OrderCommand::Schedule { on }],
            vec![OrderCommand::Cancel { reason: reason() }],
            vec![OrderCommand::Reprove { reason: reason() }],
        ] {
            let id = self.new_order(now).await;
            for command in commands {
                self.service.order_command(id, &command, now).await.unwrap();
            }
        }
    }

    pub(super) async fn add_credentials(&self) {
        let (directory, now) = (&self.stores.directory, self.now);
        let blocked = Cnpj::parse("11444777000161").unwrap();
        let done = directory.block_supplier(company(PAYER), &blocked, now);
        done.await.unwrap();
        let key = ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(21)),
            company: company(PAYER),
            name: KeyName::parse("ERP").unwrap(),
            responsible_user: UserId::new(Uuid::from_u128(11)),
            scopes: Scope::ALL.iter().copied().collect(),
            prefix: "service_sk_00".to_owned(),
            created_at: now,
            expires_at: now.saturating_add(LONG_AGO),
            revoked_at: None,
            last_used_at: None,
        };
        let hash = KeyHash([21; 32]);
        directory.add_api_key(&key, &hash, None).await.unwrap();
        for (number, role) in (31..).zip(OperatorRole::ALL) {
            let name = |text: &str| OperatorName::parse(text).unwrap();
            let operator = Operator {
                id: OperatorId::new(Uuid::from_u128(number)),
                name: name(&format!("operator-{number}")),
                role: *role,
                created_at: now,
                created_by: name("root"),
                valid_until: None,
                revoked_at: None,
                last_used_at: None,
            };
            let token = KeyHash([u8::try_from(number).unwrap(); 32]);
            directory
                .add_operator(&operator, &token, None)
                .await
                .unwrap();
        }
    }
}
