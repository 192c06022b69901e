"""Cohere's and Voyage's SDKs, Open WebUI's reranker, LiteLLM and llm against weir."""

import os
import subprocess
import sys
import types
import warnings

warnings.simplefilter("ignore")

import cohere
import litellm
import voyageai

from promises import DOCUMENTS, FOLDER, HOSTS, KEY, ORDER, SCORES, URL, check_all, thrown_by

litellm.suppress_debug_info = True
v1 = cohere.Client(api_key=KEY, base_url=URL)
v2 = cohere.ClientV2(api_key=KEY, base_url=URL)
voyage = voyageai.Client(api_key=KEY, base_url=f"{URL}/v1", max_retries=0)


def at_each(ask):
    """Whether every host gives the same order, and the scores of its text."""

    def run():
        seen = {host: ask(f"x{host}/m") for host in HOSTS}
        return all(one == list(zip(ORDER, SCORES)) for one in seen.values()), f"{len(seen)} hosts"

    return run


def cohere_v2(model):
    return [(one.index, one.relevance_score) for one in v2.rerank(model=model, query="q", documents=DOCUMENTS).results]


def cohere_v1(model):
    return [(one.index, one.relevance_score) for one in v1.rerank(model=model, query="q", documents=DOCUMENTS).results]


def cohere_documents():
    answer = v1.rerank(model="xjina/m", query="q", documents=DOCUMENTS, top_n=1, return_documents=True)
    return [one.document.text for one in answer.results] == ["0.9000 c"], answer.results[0].document


def cohere_fields():
    objects = [{"title": "a blue dog", "body": "x"}, {"title": "a red cat", "body": "y"}]
    answer = v1.rerank(model="mock/rerank", query="red cats", documents=objects, rank_fields=["title"], top_n=1)
    return answer.results[0].index == 1, answer.results[0].relevance_score


def cohere_units():
    units = v2.rerank(model="xcohere/m", query="q", documents=DOCUMENTS).meta.billed_units.search_units
    return units == 3, units


def cohere_errors():
    unknown = thrown_by(lambda: v2.rerank(model="nowhere/m", query="q", documents=["a"]))
    wrong = thrown_by(lambda: cohere.ClientV2(api_key="no", base_url=URL).rerank(model="xjina/m", query="q", documents=["a"]))
    seen = [type(unknown).__name__, type(wrong).__name__]
    return seen == ["NotFoundError", "UnauthorizedError"] and "nowhere/m" in unknown.body["message"], seen


def of_voyage(model):
    answer = voyage.rerank("q", DOCUMENTS, model=model)
    assert all(one.document == DOCUMENTS[one.index] for one in answer.results)
    return [(one.index, one.relevance_score) for one in answer.results]


def voyage_top():
    answer = voyage.rerank("q", DOCUMENTS, model="xcohere/m", top_k=2)
    return [one.index for one in answer.results] == ORDER[:2] and answer.total_tokens > 0, answer.total_tokens


def voyage_errors():
    unknown = thrown_by(lambda: voyage.rerank("q", DOCUMENTS, model="nowhere/m"))
    stranger = voyageai.Client(api_key="no", base_url=f"{URL}/v1", max_retries=0)
    wrong = thrown_by(lambda: stranger.rerank("q", DOCUMENTS, model="xvoyage/m"))
    empty = thrown_by(lambda: voyage.rerank("", DOCUMENTS, model="xvoyage/m"))
    seen = [type(one).__name__ for one in (unknown, wrong, empty)]
    told = "nowhere/m" in str(unknown) and "Invalid response" not in str(unknown)
    return told and seen == ["APIError", "AuthenticationError", "InvalidRequestError"], seen


def external_reranker():
    """The class alone, with stand-ins for the modules of Open WebUI that it imports."""
    sys.path.insert(0, FOLDER)
    env = types.ModuleType("open_webui.env")
    env.ENABLE_FORWARD_USER_INFO_HEADERS, env.REQUESTS_VERIFY = False, True
    headers = types.ModuleType("open_webui.utils.headers")
    headers.include_user_info_headers = lambda headers, user: headers
    sys.modules |= {"open_webui.env": env, "open_webui.utils": types.ModuleType("open_webui.utils")}
    sys.modules["open_webui.utils.headers"] = headers
    from open_webui.retrieval.models.external import ExternalReranker

    return ExternalReranker


def open_webui():
    reranker = external_reranker()
    pairs = [("q", document) for document in DOCUMENTS]
    seen = {}
    for host in HOSTS:
        for path in ("/v1/rerank", "/rerank", "/v2/rerank"):
            seen[host, path] = reranker(KEY, URL + path, f"x{host}/m").predict(pairs)
    return all(one == [0.1, 1e-05, 0.9, 0.5] for one in seen.values()), f"{len(seen)} of hosts and paths"


def of_litellm(provider, path):
    def ask(model):
        answer = litellm.rerank(
            model=f"{provider}/{model}", query="q", documents=DOCUMENTS, api_base=URL + path, api_key=KEY)
        return [(one["index"], one["relevance_score"]) for one in answer.results]

    return at_each(ask)


def litellm_completion():
    asked = {"model": "text-completion-openai/lm/m", "prompt": "abc", "max_tokens": 4, "api_base": f"{URL}/v1", "api_key": KEY}
    whole = litellm.text_completion(**asked).choices[0].text
    parts = [part.choices[0].text or "" for part in litellm.text_completion(**asked, stream=True)]
    return len(whole) == 4 and "".join(parts) == whole, f"{len(parts)} parts"


def litellm_moderation():
    answer = litellm.moderation(input="violence", model="mock/moderation", custom_llm_provider="openai", api_base=f"{URL}/v1", api_key=KEY)
    return answer.results[0].flagged is True, answer.results[0].flagged


LLM = f"""
- model_id: echo
  model_name: mock/echo
  api_key_name: weir
  api_base: {URL}/v1
  completion: true
- model_id: broken
  model_name: mock/cut
  api_key_name: weir
  api_base: {URL}/v1
  completion: true
"""


def run_llm(*words):
    user = os.path.join(FOLDER, "llm-user")
    os.makedirs(user, exist_ok=True)
    with open(os.path.join(user, "extra-openai-models.yaml"), "w") as file:
        file.write(LLM)
    program = os.path.join(os.path.dirname(sys.executable), "llm")
    env = {**os.environ, "LLM_USER_PATH": user}
    return subprocess.run([program, *words, "--key", KEY], env=env, capture_output=True, text=True, timeout=60)


def llm_whole():
    said = run_llm("-m", "echo", "--no-stream", "Once upon a time").stdout.strip()
    return said == "Once upon a time", said


def llm_streamed():
    said = run_llm("-m", "echo", "Once upon a time").stdout.strip()
    return said == "Once upon a time", said


def llm_cut():
    ran = run_llm("-m", "broken", "Tell me a story that is long enough")
    return ran.returncode != 0 and "ended before" in ran.stderr, (ran.returncode, ran.stderr.strip()[-80:])


check_all({
    "cohere v2: the order and the scores of each host": at_each(cohere_v2),
    "cohere v1: the order and the scores of each host": at_each(cohere_v1),
    "cohere v1: documents come back from a host that has none": cohere_documents,
    "cohere v1: objects with rank_fields": cohere_fields,
    "cohere v2: the searches of the bill": cohere_units,
    "cohere v2: errors have their classes": cohere_errors,
    "voyageai: the order, the scores and the documents of each host": at_each(of_voyage),
    "voyageai: top_k and the tokens": voyage_top,
    "voyageai: errors have their classes and sentences": voyage_errors,
    "Open WebUI: the scores of each host in the order of the documents": open_webui,
    "litellm, as Cohere's": of_litellm("cohere", ""),
    "litellm, as Jina's": of_litellm("jina_ai", ""),
    "litellm, as vLLM's": of_litellm("hosted_vllm", ""),
    "litellm: text completions, whole and streamed": litellm_completion,
    "litellm: moderation": litellm_moderation,
    "llm: a completion": llm_whole,
    "llm: a streamed completion": llm_streamed,
    "llm: a stream that breaks off is an error": llm_cut,
})
