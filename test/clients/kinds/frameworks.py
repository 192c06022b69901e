"""The rerankers of LangChain and LlamaIndex against weir."""

from langchain_cohere import CohereRerank as LangChainRerank
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.cohere_rerank import CohereRerank
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
from llama_index.postprocessor.voyageai_rerank import VoyageAIRerank

from promises import DOCUMENTS, HOSTS, KEY, ORDER, SCORES, URL, check_all

QUERY = QueryBundle("q")
NODES = [NodeWithScore(node=TextNode(text=text)) for text in DOCUMENTS]
BEST = [DOCUMENTS[index] for index in ORDER[:3]]


def langchain():
    seen = []
    for host in HOSTS:
        reranker = LangChainRerank(model=f"x{host}/m", cohere_api_key=KEY, base_url=URL, top_n=3)
        found = reranker.compress_documents([Document(page_content=text) for text in DOCUMENTS], "q")
        seen.append([(one.page_content, one.metadata["relevance_score"]) for one in found])
    return all(one == list(zip(BEST, SCORES)) for one in seen), f"{len(seen)} hosts"


def reranked(reranker):
    return [(one.node.text, one.score) for one in reranker.postprocess_nodes(NODES, query_bundle=QUERY)]


def llama_cohere():
    seen = [reranked(CohereRerank(model=f"x{host}/m", api_key=KEY, base_url=URL, top_n=3)) for host in HOSTS]
    return all(one == list(zip(BEST, SCORES)) for one in seen), f"{len(seen)} hosts"


def llama_voyage():
    reranker = VoyageAIRerank(model="xcohere/m", api_key=KEY, top_n=3)
    # The class has no address of its own.
    reranker._client._params["base_url"] = f"{URL}/v1"
    seen = reranked(reranker)
    return seen == list(zip(BEST, SCORES)), len(seen)


def llama_tei():
    """Its requests name no model, as those of text-embeddings-inference."""
    reranker = TextEmbeddingInference(base_url=URL, auth_token=f"Bearer {KEY}", top_n=3)
    seen = reranked(reranker)
    return seen == list(zip(BEST, SCORES)), len(seen)


check_all({
    "LangChain, CohereRerank: the best of each host": langchain,
    "LlamaIndex, CohereRerank: the best of each host": llama_cohere,
    "LlamaIndex, VoyageAIRerank": llama_voyage,
    "LlamaIndex, TextEmbeddingInference": llama_tei,
})
