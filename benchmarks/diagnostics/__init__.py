"""Our diagnostics beside rldoctor and rlprobe: on the scenarios they generate, and on runs that were recorded."""
