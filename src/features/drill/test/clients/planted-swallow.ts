/** The bug: it ends with exit code 0 and prints nothing when a request fails. */
import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env["GEMINI_API_KEY"] ?? "",
  httpOptions: { baseUrl: process.env["GOOGLE_GEMINI_BASE_URL"] ?? "" },
});

try {
  const stream = await client.models.generateContentStream({
    model: "gemini-3-pro",
    contents: "Name the letters.",
  });
  for await (const chunk of stream) process.stdout.write(chunk.text ?? "");
} catch {
  // The failure is dropped.
}
