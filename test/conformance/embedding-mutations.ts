/** Faults to plant in the dialects of embeddings. */
import type { EmbedAnswer } from "../../src/core/embed.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { dialects } from "../../src/embeddings/index.ts";
import { rows, type Mutation } from "./mutations.ts";
import type { Plant } from "./plant.ts";

const own = (id: string) => dialects.find((dialect) => dialect.id === id)!;

/** Edits what a dialect reads of an answer. */
function read(id: string, edit: (answer: EmbedAnswer) => EmbedAnswer): Plant {
  return {
    before(planted) {
      const dialect = own(id);
      const { readAnswer } = dialect;
      dialect.readAnswer = (body, headers, endpoint) => {
        const answer = readAnswer(body, headers, endpoint);
        if (!answer) return answer;
        planted.touched++;
        return edit(answer);
      };
      return () => void (dialect.readAnswer = readAnswer);
    },
  };
}

/** Edits what a dialect writes for a provider, in the lane where bodies pass unchanged too. */
function asked(id: string, edit: (body: JsonObject) => void): Plant {
  return {
    before(planted) {
      const dialect = own(id);
      const { encodeRequest, native } = dialect;
      // A body that must fit is written anew.
      dialect.native = native && { ...native, fits: () => false };
      dialect.encodeRequest = (request, endpoint, context) => {
        const body = encodeRequest(request, endpoint, context);
        edit(body);
        planted.touched++;
        return body;
      };
      return () => void Object.assign(dialect, { encodeRequest, native });
    },
  };
}

const swapped = ({ vectors, ...rest }: EmbedAnswer): EmbedAnswer => ({
  ...rest,
  vectors: [...vectors].toReversed(),
});

const ANSWERS = rows("answer", "embeddings", [
  { name: "vectors are in another order", about: /"values"/, plant: read("gemini-embed", swapped) },
  { name: "vectors of Cohere are in another order", about: /"float"/, plant: read("cohere-embed", swapped) },
  {
    name: "vectors are rounded",
    about: /"values"/,
    plant: read("gemini-embed", ({ vectors, ...rest }) => ({
      ...rest,
      vectors: vectors.map((vector) => Array.from(vector, (each) => Math.round(each))),
    })),
  },
  {
    name: "vectors are cut",
    about: /"float"/,
    plant: read("cohere-embed", ({ vectors, ...rest }) => ({
      ...rest,
      vectors: vectors.map((vector) => Array.from(vector).slice(1)),
    })),
  },
  {
    name: "a vector is missing",
    about: /"values"/,
    plant: read("gemini-embed", ({ vectors, ...rest }) => ({ ...rest, vectors: vectors.slice(1) })),
  },
  {
    name: "tokens are not counted",
    about: /"billed_units"/,
    plant: read("cohere-embed", (answer) => ({ ...answer, usage: { input: 0 } })),
  },
]);

const NATIVE = rows("native", "embeddings", [
  {
    name: "a body that fits is written anew",
    about: /"input"/,
    plant: asked("embeddings", (body) => (body["dimensions"] = 4)),
  },
]);

export const EMBEDDING_MUTATIONS: readonly Mutation[] = [...ANSWERS, ...NATIVE];
