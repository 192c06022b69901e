/** Without guards no call meets them. */
import { expect, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";

test("a gateway without guards answers, and names none", async () => {
  const gateway = await startGateway({ config: {} });
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hi" }] }),
    });
    expect([response.status, response.headers.get("x-weir-guards")]).toEqual([200, null]);
  } finally {
    await gateway.stop();
  }
});
