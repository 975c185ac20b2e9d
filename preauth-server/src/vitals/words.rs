//! What is wrong with an instance, in Portuguese: the log has numbers and names, in English.

use crate::hold::HoldReason;
use crate::store::Unfit;

/// Why a held instance cannot serve.
pub(super) fn held(reasons: &[HoldReason]) -> String {
    let reasons = reasons.iter().filter(|it| it.refuses_writes());
    let each: Vec<_> = reasons.map(|it| reason(*it)).collect();
    each.join("; ")
}

/// What does not prevent it from serving: a clock that jumped, or one that is a little wrong.
pub(super) fn warning(reasons: &[HoldReason]) -> &'static str {
    if reasons.contains(&HoldReason::ClockJumped) {
        reason(HoldReason::ClockJumped)
    } else {
        "o relógio desta máquina difere do relógio do banco de dados (o log mostra de quanto)"
    }
}

const fn reason(reason: HoldReason) -> &'static str {
    match reason {
        HoldReason::ClockOff => {
            "o relógio está errado; acerte-o: até lá toda requisição é respondida com 503 (o log mostra de quanto é a diferença)"
        }
        HoldReason::ClockJumped => {
            "um relógio saltou enquanto o servidor rodava; os laços descansam até ele ficar estável por um minuto (o log mostra qual)"
        }
        HoldReason::ForeignDatabase => {
            "o banco de dados é de outra instalação, ou uma cópia: nada é gravado nem enviado (o log mostra de qual)"
        }
        HoldReason::QuietOutbound => {
            "foi iniciada com --quiet-outbound: nada é gravado nem enviado"
        }
    }
}

/// Why a database cannot serve.
pub(super) const fn unfit(error: &Unfit) -> &'static str {
    match error {
        Unfit::Unreachable(_) => "o banco de dados não responde",
        Unfit::Schema(_) => {
            "o banco de dados não pode ser usado por esta versão (“preauth-server doctor” diz por quê)"
        }
        Unfit::Full(_) => "o disco do banco de dados está cheio; libere espaço",
        Unfit::ReadOnly => "o banco de dados não aceita gravações",
    }
}
