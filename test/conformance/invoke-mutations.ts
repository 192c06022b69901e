/** Faults to plant where Claude is reached over InvokeModel: in the framing, and in what goes into the body. */
import { rows, type Mutation } from "./mutations.ts";
import { awsFrames, providerOf } from "./plant.ts";

const eachEvent = (edit: (data: string) => string | undefined) =>
  awsFrames((frame) => {
    const data = edit(frame.data);
    return data === undefined ? undefined : { ...frame, data };
  });

export const INVOKE_MUTATIONS: readonly Mutation[] = rows("native", "bedrock_invoke", [
  {
    name: "an event of a stream is dropped",
    about: /"messages"/,
    plant: eachEvent((data) => (data.includes('"content_block_stop"') ? undefined : data)),
  },
  {
    name: "texts of a stream are cut",
    about: /"messages"/,
    plant: eachEvent((data) => data.replace(/"text":"(\w)[^"]*"/, '"text":"$1"')),
  },
  {
    name: "events lose their names",
    about: /"messages"/,
    plant: awsFrames((frame) => ({ event: "chunk", data: frame.data })),
  },
  {
    name: "the metrics of Bedrock are dropped",
    about: /"messages"/,
    plant: eachEvent((data) => data.replace(/,"amazon-bedrock-invocationMetrics":\{[^}]*\}/, "")),
  },
  {
    name: "the body has no version",
    about: /"messages"/,
    plant: providerOf("bedrock", (provider) => {
      provider.envelope = { messages: { ...provider.envelope?.["messages"], defaults: () => ({}) } };
    }),
  },
  {
    name: "the model stays in the body",
    about: /"messages"/,
    plant: providerOf("bedrock", (provider) => {
      provider.envelope = { messages: { ...provider.envelope?.["messages"], without: ["stream"] } };
    }),
  },
]);
