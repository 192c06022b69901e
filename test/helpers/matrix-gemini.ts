/** Requests of Gemini clients for the tables of what the formats carry. */
import type { Json, JsonObject } from "../../src/core/json.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const image: JsonObject = { inlineData: { mimeType: "image/png", data: PIXEL } };
const schema: JsonObject = { type: "OBJECT", properties: { a: { type: "STRING", nullable: true } } };
const tools: Json = [{ functionDeclarations: [{ name: "f", parameters: schema }] }];

const user = (...parts: JsonObject[]): JsonObject => ({ role: "user", parts });
const model = (...parts: JsonObject[]): JsonObject => ({ role: "model", parts });
const config = (members: JsonObject): JsonObject => ({ generationConfig: members });
const calling = (members: JsonObject): JsonObject => ({
  tools,
  toolConfig: { functionCallingConfig: members },
});
const asked: JsonObject = user({ text: "u" });
const call: JsonObject = { functionCall: { name: "f", args: {} } };

/** A name for the row, and the members it adds to the plainest request. */
export const GEMINI: readonly (readonly [name: string, members: JsonObject])[] = [
  ["`systemInstruction`", { systemInstruction: { parts: [{ text: "s" }] } }],
  ["`temperature` up to 1, `maxOutputTokens`", config({ temperature: 0.5, maxOutputTokens: 100 })],
  ["`topK`", config({ topK: 40 })],
  ["`stopSequences`", config({ stopSequences: ["END"] })],
  ["`seed`", config({ seed: 7 })],
  ["`presencePenalty`", config({ presencePenalty: 1 })],
  ["`candidateCount` over 1", config({ candidateCount: 2 })],
  ["`responseLogprobs`", config({ responseLogprobs: true })],
  ["`responseModalities`: IMAGE", config({ responseModalities: ["TEXT", "IMAGE"] })],
  ["`responseJsonSchema`", config({ responseMimeType: "application/json", responseJsonSchema: schema })],
  ["`responseSchema`", config({ responseMimeType: "application/json", responseSchema: schema })],
  ["`responseMimeType`: JSON alone", config({ responseMimeType: "application/json" })],
  ["`responseMimeType`: text/x.enum", config({ responseMimeType: "text/x.enum", responseSchema: schema })],
  ["`thinkingLevel`", config({ thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" } })],
  ["`thinkingBudget`", config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } })],
  ["image", { contents: [user(image)] }],
  [
    "image by URL",
    { contents: [user({ fileData: { mimeType: "image/png", fileUri: "https://example.com/a.png" } })] },
  ],
  [
    "PDF",
    { contents: [user({ inlineData: { mimeType: "application/pdf", data: "JVBERi0xLjQKJSVFT0Y=" } })] },
  ],
  ["file of the Files API, video", { contents: [user({ fileData: { fileUri: "https://youtu.be/x" } })] }],
  ["audio", { contents: [user({ inlineData: { mimeType: "audio/wav", data: "UklGRg==" } })] }],
  ["`functionDeclarations`, both kinds of schemas", { tools }],
  [
    "calls and responses without ids",
    {
      tools,
      contents: [asked, model(call), user({ functionResponse: { name: "f", response: { output: "r" } } })],
    },
  ],
  [
    "image in a response",
    {
      tools,
      contents: [
        asked,
        model(call),
        user({ functionResponse: { name: "f", response: { output: "r" }, parts: [image] } }),
      ],
    },
  ],
  ["mode ANY", calling({ mode: "ANY" })],
  ["mode NONE", calling({ mode: "NONE" })],
  ["mode VALIDATED, allowed names", calling({ mode: "VALIDATED", allowedFunctionNames: ["f"] })],
  [
    "Google's thought signatures",
    { contents: [asked, model({ text: "a", thoughtSignature: "c2lnbmVk" }), asked] },
  ],
  [
    "`executableCode`, `codeExecutionResult`",
    { contents: [asked, model({ executableCode: { language: "PYTHON", code: "1" } }, { text: "a" }), asked] },
  ],
  ["tools of Google beside functions", { tools: [{ googleSearch: {} }, ...(tools as Json[])] }],
  ["tools of Google alone", { tools: [{ googleSearch: {} }] }],
  ["`cachedContent`", { cachedContent: "cachedContents/x" }],
  [
    "tools of Google beside an allowed list",
    {
      tools: [{ googleSearch: {} }, { functionDeclarations: ["f", "g", "h"].map((name) => ({ name })) }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f", "g"] } },
    },
  ],
  [
    "`safetySettings`, `labels`",
    {
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_LOW_AND_ABOVE" }],
      labels: { team: "a" },
    },
  ],
  ["`serviceTier`: FLEX", { serviceTier: "FLEX" }],
];
