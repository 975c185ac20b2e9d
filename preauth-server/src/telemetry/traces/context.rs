//! The ids of traces and spans, and which traces are sent.

use hyper::HeaderMap;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use preauth_core::value::EventId;
use tokio::task_local;

/// The part of a trace's id that is random both in the ids that tracers make and in those of events.
const RANDOM_BITS: u128 = 56;

task_local! {
    static REQUEST: SpanContext;
}

/// Which traces are sent: those whose random part is below a limit, so that all instances agree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    below: u128,
}

impl Sampled {
    /// That many of a hundred.
    pub(super) fn percent(percent: u32) -> Self {
        let all = 1_u128 << RANDOM_BITS;
        let share = all.checked_div(100).unwrap_or_default();
        let below = match percent {
            100.. => all,
            percent => share.saturating_mul(percent.into()),
        };
        Self { below }
    }

    pub(super) fn has(self, trace: TraceId) -> bool {
        let random =
            u128::from_be_bytes(trace.to_bytes()) & (1_u128 << RANDOM_BITS).wrapping_sub(1);
        random < self.below
    }
}

/// A context within this process.
pub(super) fn local(trace: TraceId, span: SpanId) -> SpanContext {
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

/// The root of an event's trace. Both ids follow from the event's.
pub(super) fn of_event(event: EventId) -> SpanContext {
    let id = event.as_uuid().as_u128();
    // The last half of a UUID begins with its variant, so that it is never zero.
    let span = u64::try_from(id & u128::from(u64::MAX)).unwrap_or(1);
    local(TraceId::from(id), SpanId::from(span))
}

/// The caller's span, if the request names one (W3C Trace Context).
pub(super) fn of_caller(headers: &HeaderMap) -> Option<SpanContext> {
    let context = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    let caller = context.span().span_context().clone();
    caller.is_valid().then_some(caller)
}

/// The span of the request in whose course this is called.
pub(super) fn of_request() -> Option<SpanContext> {
    REQUEST.try_with(Clone::clone).ok()
}

/// Runs `work` in the course of a request.
pub(super) async fn in_request<T>(request: SpanContext, work: impl Future<Output = T>) -> T {
    REQUEST.scope(request, work).await
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::TraceId;
    use preauth_core::value::EventId;
    use uuid::Uuid;

    use super::{Sampled, of_event};

    #[test]
    fn all_instances_send_the_same_share_of_traces_of_events() {
        let ids: Vec<_> = (0..10_000_u128)
            .map(|n| {
                // A UUIDv7 whose random part is spread evenly.
                let random = n.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
                let bits = 0x01a1_fe3a_25a3_7000_8000_0000_0000_0000
                    | (random & 0x0FFF_3FFF_FFFF_FFFF_FFFF);
                of_event(EventId::new(Uuid::from_u128(bits))).trace_id()
            })
            .collect();
        for (percent, least, most) in [
            (100, 10_000, 10_000),
            (25, 2_300, 2_700),
            (1, 50, 150),
            (0, 0, 0),
        ] {
            let sampled = Sampled::percent(percent);
            let sent = ids.iter().filter(|id| sampled.has(**id)).count();
            assert!((least..=most).contains(&sent), "{percent}: {sent}");
        }
    }

    #[test]
    fn an_event_is_its_trace() {
        let id = "01a1fe3a-25a3-7ffb-8504-107e7be706e3";
        let root = of_event(EventId::new(id.parse().unwrap()));
        assert_eq!(root.trace_id().to_string(), id.replace('-', ""));
        assert_ne!(root.trace_id(), TraceId::INVALID);
        assert_eq!(root.span_id().to_string(), "8504107e7be706e3");
    }
}
