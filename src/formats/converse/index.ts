/** The Converse format of Amazon Bedrock (`POST /model/{model}/converse`). Providers speak it; weir has no clients of it. */
import type { Format, UpstreamCodec } from "../../core/format.ts";
import { eventStream } from "../../stream/framing.ts";
import { FORMAT } from "./upstream/context.ts";
import { modelFacts } from "./models.ts";
import { readAnswer, readStream } from "./upstream/answer.ts";
import { decodeAwsError as decodeError } from "../shared/aws-error.ts";
import { encodeRequest } from "./upstream/request.ts";
import { watch } from "./upstream/watch.ts";

const PATHS = { json: "/model/{model}/converse", stream: "/model/{model}/converse-stream" };

const upstream: UpstreamCodec = {
  address: {
    requestInUrl: true,
    endpoint: { path: PATHS, framing: eventStream() },
    requestHeaders: [],
    answerHeaders: [],
    models: { modelKind: modelFacts },
  },
  codec: { encodeRequest, readStream, readAnswer, decodeError },
  native: { watch },
};

export const converseFormat: Format & { upstream: UpstreamCodec } = { id: FORMAT, upstream };
