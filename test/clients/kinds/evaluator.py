"""lm-eval's local-completions against weir and against the host itself: the same figures."""

import json
import logging
import os
import sys

import lm_eval
from lm_eval.models.openai_completions import LocalCompletionsAPI
from lm_eval.tasks import TaskManager

from promises import FOLDER, KEY, URL, check_all

logging.disable(logging.WARNING)
os.environ["OPENAI_API_KEY"] = KEY
QUESTIONS = [
    {"question": f"The capital of country {at} is", "choices": [" Oslo", " Rome", " Lisbon", " Bern ☃"], "answer": at % 4}
    for at in range(12)
]
COMMON = """
dataset_path: json
dataset_kwargs: {data_files: {test: %s}}
test_split: test
doc_to_text: "{{question}}"
"""
CHOICES = """task: tiny_choices
output_type: multiple_choice
doc_to_choice: "{{choices}}"
doc_to_target: "{{answer}}"
metric_list: [{metric: acc}]
"""
ROLLING = """task: tiny_rolling
output_type: loglikelihood_rolling
doc_to_target: "{{question}}"
metric_list: [{metric: word_perplexity}, {metric: bits_per_byte}]
"""
WRITTEN = """task: tiny_written
output_type: generate_until
doc_to_target: "{{choices[0]}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 8}
metric_list: [{metric: exact_match}]
"""


class Bytes:
    """The tokens of the fake host."""

    eot_token = 0
    n_vocab = 256

    def encode(self, text):
        return list(text.encode())

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")

    def decode_batch(self, lists):
        return [self.decode(tokens) for tokens in lists]


def model_at(url, name, tokenized, batch):
    model = LocalCompletionsAPI(
        base_url=f"{url}/completions", model=name, tokenizer_backend="none", tokenized_requests=tokenized,
        batch_size=batch, num_concurrent=4, max_retries=1, max_length=256, max_gen_toks=8)
    # A tokenizer that needs no download.
    model.tokenizer_backend, model.tokenizer, model.tokenized_requests = "tiktoken", Bytes(), tokenized
    return model


def tasks():
    folder = os.path.join(FOLDER, "tasks")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "questions.jsonl"), "w") as file:
        file.writelines(json.dumps(one) + "\n" for one in QUESTIONS)
    for name, text in {"choices": CHOICES, "rolling": ROLLING, "written": WRITTEN}.items():
        with open(os.path.join(folder, f"{name}.yaml"), "w") as file:
            file.write(text + COMMON % os.path.join(folder, "questions.jsonl"))
    return TaskManager(include_path=folder, include_defaults=False)


MANAGER = tasks()


def results_of(task, url, name, tokenized, batch):
    results = lm_eval.simple_evaluate(
        model=model_at(url, name, tokenized, batch), tasks=[task], task_manager=MANAGER, bootstrap_iters=0)
    answers = [one["resps"] for one in results["samples"][task]]
    figures = {key: value for key, value in results["results"][task].items() if isinstance(value, float)}
    return figures, answers


def equal(task, tokenized, batch=1):
    def run():
        direct = results_of(task, os.environ["HOST_URL"], "m", tokenized, batch)
        through = results_of(task, f"{URL}/v1", "lm/m", tokenized, batch)
        return direct == through and len(through[1]) == len(QUESTIONS), through[0]

    return run


check_all({
    "lm-eval: choices by log probabilities, prompts as token ids": equal("tiny_choices", True),
    "lm-eval: the same with four prompts in a request": equal("tiny_choices", True, 4),
    "lm-eval: the same with texts": equal("tiny_choices", False),
    "lm-eval: perplexity of whole texts": equal("tiny_rolling", True),
    "lm-eval: generated texts": equal("tiny_written", False),
})
