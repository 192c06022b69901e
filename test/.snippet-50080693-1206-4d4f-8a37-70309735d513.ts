import OpenAI from "openai";

const client = new OpenAI({
  baseURL: "http://127.0.0.1:33877/v1",
  apiKey: process.env.WEIR_API_KEY ?? "none",
});
for (let n = 1; n <= 10; n++) {
  const answer = await client.chat.completions.create({
    model: "mock/flaky-30",
    messages: [{ role: "user", content: `Hello ${n}` }],
  });
  console.log(answer.choices[0]?.message.content);
}
