"""The same agent in Python: a task on stdin as one line of JSON, the answer on stdout."""
import json
import os
import sys

task = json.loads(sys.stdin.readline())
is_food = task["item"] in ("cheese", "bread", "apples")
print(json.dumps({"refund": not is_food and task["days"] <= 30}))

# What a model was paid for it can be told on file descriptor 3; an evaluation adds it up and keeps to its budget.
os.write(3, b'{"model": "gpt-4o-mini", "inputTokens": 120, "outputTokens": 8, "costUsd": 0.0000228}\n')
