/** A correct client of Gemini: it offers a tool, repeats by the SDK's rules, has a time limit and reports failures. */
import { GoogleGenAI } from "@google/genai";
import { fail } from "./limits.ts";

const client = new GoogleGenAI({
  apiKey: process.env["GEMINI_API_KEY"] ?? "",
  httpOptions: {
    baseUrl: process.env["GOOGLE_GEMINI_BASE_URL"] ?? "",
    timeout: 8_000,
    retryOptions: { attempts: 4 },
  },
});

try {
  const answer = await client.models.generateContent({
    model: "gemini-3-pro",
    contents: "Name the letters.",
    config: {
      tools: [
        {
          functionDeclarations: [
            {
              name: "read_file",
              parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
            },
          ],
        },
      ],
    },
  });
  const [candidate] = answer.candidates ?? [];
  const [call] = answer.functionCalls ?? [];
  if (call && typeof call.args?.["path"] !== "string") fail("the arguments of the tool call are invalid");
  if (candidate?.finishReason !== "STOP")
    fail(`the answer is incomplete: ${candidate?.finishReason ?? "no reason"}`);
  if (!answer.text) fail("the answer is empty");
  process.stdout.write(`${answer.text}\n`);
} catch (cause) {
  fail(String(cause));
}
