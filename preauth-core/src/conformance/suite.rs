//! The list of all cases.

/// Makes a test of every case: `#[attribute] host`, where the expression gives a
/// [`Host`](crate::conformance::Host), best on an empty database; it may await.
#[macro_export]
macro_rules! conformance_suite {
    (#[$test:meta] $host:expr) => {
        $crate::conformance_suite! { @cases #[$test] $host;
            changes::every_state_is_kept_with_its_data,
            changes::every_closing_is_kept_with_its_reason,
            changes::a_commit_on_an_old_version_writes_nothing,
            changes::a_commit_on_a_version_that_is_not_there_conflicts,
            changes::a_second_cancel_changes_nothing,
            changes::cancel_is_refused_after_a_request_or_another_closing,
            changes::a_strangers_operation_cannot_be_commanded,
            deliveries::an_event_goes_to_every_subscribed_endpoint,
            deliveries::an_event_that_nobody_chose_has_no_delivery,
            deliveries::a_delivery_to_a_deleted_endpoint_is_dropped,
            deliveries::deleting_an_endpoint_ends_its_pending_deliveries,
            deliveries::every_attempt_is_kept_as_it_was,
            deliveries::the_longest_due_are_given_out_first,
            duplicates::a_second_operation_for_one_invoice_writes_nothing,
            duplicates::a_duplicate_names_the_operation_in_the_way,
            duplicates::a_branch_holds_an_invoice_for_its_whole_group,
            duplicates::other_invoices_are_not_in_the_way,
            duplicates::invoices_without_a_number_never_collide,
            duplicates::a_closed_operation_frees_its_invoice,
            duplicates::reopening_needs_the_invoice_to_be_free,
            duplicates::a_closed_operation_does_not_free_what_another_holds,
            histories::every_change_leaves_one_event_in_its_order,
            histories::events_of_one_moment_keep_their_order,
            histories::every_kind_of_actor_is_kept,
            histories::an_unknown_operation_has_no_history,
            leases::a_lease_keeps_a_delivery_until_it_ends,
            leases::an_old_lease_finishes_nothing,
            leases::a_lease_that_ran_out_may_still_be_finished,
            leases::a_lease_is_finished_once,
            leases::a_released_delivery_is_due_again_at_once,
            leases::one_endpoint_has_a_bounded_share,
            leases::a_long_queue_leaves_room_for_others,
            lists::everyone_sees_their_own_operations_only,
            lists::a_reference_is_found_by_exact_equality,
            lists::statuses_and_reference_filter_together,
            lists::pages_follow_each_other_newest_first,
            lists::a_page_beyond_the_last_is_empty,
            offers::an_offer_is_kept_as_it_was_made,
            offers::an_offer_to_a_new_supplier_registers_it,
            offers::a_registered_supplier_keeps_its_name_and_is_told,
            offers::the_file_of_an_offer_is_described,
            offers::a_direct_advance_is_kept_as_it_was_made,
            offers::reserved_ids_are_never_given_twice,
            offers::a_refused_offer_writes_nothing,
            orders::an_order_is_kept_through_its_life,
            orders::an_order_may_have_no_day_and_no_operation,
            orders::an_order_needs_registered_parties,
            orders::only_the_payer_hears_of_an_order,
            orders::a_commit_on_an_old_version_of_an_order_writes_nothing,
            overdue::an_offer_is_overdue_after_its_last_moment,
            overdue::overdue_offers_are_named_up_to_a_limit,
            overdue::a_command_on_an_overdue_offer_records_its_expiry_first,
            overdue::an_offer_may_be_requested_at_its_last_moment,
            overdue::an_overdue_holder_makes_room_for_a_new_offer,
            overdue::an_overdue_holder_makes_room_for_a_reopening,
            parties::a_payer_must_be_registered,
            parties::a_branch_is_read_with_its_head_office,
            parties::a_suppliers_branch_is_read_with_its_head_office,
            parties::a_block_list_counts_for_its_company_alone,
            parties::the_newest_credit_analysis_counts,
            parties::a_company_cannot_be_its_own_supplier,
            parties::the_endpoints_of_both_head_offices_are_read,
            pauses::a_paused_endpoint_keeps_its_deliveries,
            pauses::a_paused_endpoint_does_not_delay_another,
            pauses::a_verdict_may_pause_the_endpoint,
            pauses::a_delivery_under_way_survives_a_pause,
            races::one_key_creates_one_operation_however_often_it_is_sent,
            races::one_invoice_is_created_once_however_many_ask,
            races::a_new_supplier_is_registered_once_however_many_offer,
            races::cancels_and_a_request_have_one_outcome,
            races::an_expiry_is_recorded_once_however_many_sweep,
            races::ids_reserved_at_the_same_time_are_different,
            races::concurrent_claims_share_the_deliveries,
            replies::a_repeated_offer_gets_its_original_answer,
            replies::a_key_used_for_another_offer_is_refused,
            replies::keys_of_other_groups_are_other_keys,
            replies::an_expired_reply_is_replaced,
            replies::a_live_reply_is_never_overwritten,
            replies::a_refusal_is_not_remembered,
            schedules::a_delivery_is_due_from_its_event_on,
            schedules::a_failed_attempt_is_due_again_at_its_time,
            schedules::an_ended_delivery_is_never_due,
            schedules::the_next_due_time_is_the_earliest,
            schedules::an_endpoint_is_healthy_since_its_last_success,
        }
    };
    (@cases #[$test:meta] $host:expr; $($module:ident::$case:ident,)+) => {
        $(
            #[$test]
            async fn $case() {
                let host = $host;
                $crate::conformance::cases::$module::$case(&host).await;
            }
        )+
    };
}
