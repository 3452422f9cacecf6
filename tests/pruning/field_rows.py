"""Which tests stand for which row of the field notes, by node id; the test beside it says that each exists."""

HERE = "tests/pruning/test_field_rows.py"
ROWS = {
    "B1": ("tests/sweep/test_endings.py::test_endings_agree_in_optuna_and_mlflow",),
    "B2": ("tests/tracking/test_tracker.py::test_a12_b2_a_trial_is_a_child_of_its_study",),
    "B3": (f"{HERE}::test_b3_long_attributes_of_the_users_change_nothing",),
    "B4": ("tests/sweep/test_continued.py::test_b4_d1_a_killed_sweep_leaves_no_trainer_and_is_continued",),
    "B5": ("tests/sweep/test_study.py::test_b5_b6_a_trial_that_another_process_failed_keeps_its_result",),
    "B6": (
        "tests/sweep/test_study.py::test_b5_b6_a_trial_that_another_process_failed_keeps_its_result",
        "tests/pruning/test_lawpruner.py::test_a_trial_that_was_ended_elsewhere_still_gets_its_answer",
    ),
    "B7": ("tests/sweep/test_continued.py::test_b7_an_interrupted_sweep_says_cancelled_and_is_continued",),
    "B8": (
        "tests/sweep/test_continued.py::test_b8_f4_a_killed_trial_is_continued_from_its_checkpoint",
        f"{HERE}::test_b8_a_retry_that_inherits_its_values_is_judged_by_them",
    ),
    "B9": ("tests/pruning/test_lawpruner_storages.py::test_b9_four_processes_share_a_study",),
    "B10": (
        "tests/test_journal.py::test_b10_torn_last_line_is_left_alone_until_it_is_complete",
        f"{HERE}::test_b10_b11_of_optunas_journal_what_is_whole_is_read_and_what_is_broken_is_no_secret",
    ),
    "B11": (
        "tests/test_journal.py::test_writer_starts_a_new_line_behind_a_torn_one",
        f"{HERE}::test_b10_b11_of_optunas_journal_what_is_whole_is_read_and_what_is_broken_is_no_secret",
        "tests/pruning/test_lawpruner_memory.py::test_broken_attributes_are_ignored",
    ),
    "B12": (
        f"{HERE}::test_b12_what_is_not_a_number_is_skipped",
        "tests/pruning/test_lawpruner_reports.py::test_values_that_are_not_finite_are_as_if_they_had_not_been_reported",
        "tests/pruning/test_lawpruner_reports.py::test_a_trial_that_reports_nothing_finite_goes_on_and_is_no_incumbent",
    ),
    "B13": (
        f"{HERE}::test_b13_a_trial_that_is_pruned_after_its_peak_is_not_the_best",
        "tests/registry/test_promote.py::test_the_best_checkpoint_of_a_pruned_trial_is_the_best",
    ),
    "B14": (
        f"{HERE}::test_b14_of_a_study_whose_trials_were_all_pruned_there_are_words",
        "tests/sweep/test_all_pruned.py::test_b14_a_sweep_whose_runs_are_all_stopped_ends_with_its_board",
    ),
    "B15": ("tests/pruning/test_lawpruner.py::test_several_objectives_are_refused_in_one_sentence_with_the_way_out",),
    "B16": (f"{HERE}::test_b16_a_study_of_several_objectives_runs_with_the_pruner_unasked",),
    "B17": (
        "tests/pruning/test_lawpruner_reports.py::test_the_first_check_is_the_first_report_from_min_steps_on",
        "tests/pruning/test_lawpruner_reports.py::test_a_trial_is_judged_at_the_first_report_at_or_after_each_check",
    ),
    "B18": (f"{HERE}::test_b18_noise_neither_saves_all_nor_prunes_all",),
    "B19": (
        "tests/pruning/test_lawpruner_memory.py::test_the_study_is_read_at_checks_alone",
        f"{HERE}::test_b19_trials_that_are_over_are_read_once",
    ),
    "B20": (
        "tests/pruning/test_lawpruner_reports.py::test_finished_trials_of_another_length_count_with_what_they_reached",
        "tests/sweep/test_endings.py::test_endings_agree_in_optuna_and_mlflow",
    ),
    "B21": (f"{HERE}::test_b21_the_same_seed_gives_the_same_decisions",),
    "B23": ("tests/pruning/test_summary.py::test_b23_a_first_check_that_no_trial_reaches_is_named",),
    "B24": (
        "tests/pruning/test_lawpruner_memory.py::test_a_process_that_starts_anew_after_each_report_decides_the_same",
    ),
    "B25": (f"{HERE}::test_b25_the_tests_run_on_optuna_4_and_fail_on_warnings_of_what_will_change",),
}
