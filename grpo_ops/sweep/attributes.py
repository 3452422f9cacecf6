"""Names of the user attributes that a sweep keeps on its study and trials."""

# On the study.
SPEC = "grpo_ops.spec"
CLOSED = "grpo_ops.closed"
QUEUE = "grpo_ops.queue"  # points that were drawn ahead and are not trials yet

# On a trial: which run it is an attempt of.
RUN_KEY = "run_key"
ATTEMPT = "attempt"
CONTINUES = "continues"
OWNER = "grpo_ops.owner"
POINT = "grpo_ops.point"
POINT_AGAIN = "grpo_ops.point_again"  # the same of a trial that stands in for one that never became a run
REPEATS_OF = "repeats_of"  # run_key of the first run at this point
REPEAT = "repeat"  # 1, 2, ...: what is added to the run's seed

# On a trial: what came of it.
ENDING = "grpo_ops.ending"
REASON = "grpo_ops.reason"
STEPS = "grpo_ops.steps"  # done, planned
SCORES = "grpo_ops.scores"  # reward at the end, best evaluation
FORECAST = "grpo_ops.forecast"  # mean, low, high
MLFLOW_RUN = "mlflow_run_id"
