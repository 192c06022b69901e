/** The example of the document. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { blockOf } from "../../../../test/helpers/documents.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { ask } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";

setDefaultTimeout(60_000);

test("with the example of traces a collector gets spans", async () => {
  const receiver = startReceiver();
  const example = blockOf("src/features/traces/README.md", "yaml", "service:").replace(
    "http://127.0.0.1:4318",
    receiver.url,
  );
  const told = await startGateway({
    config: { ...(Bun.YAML.parse(example) as object) },
    env: { WEIR_STATE: "none" },
  });
  try {
    await told.opened();
    await ask(told.url, "mock/chat");
    await told.stop();
    expect(receiver.spans().map(({ name }) => name)).toContain("POST /v1/chat/completions");
  } finally {
    await told.stop().catch(() => {});
    await receiver.stop();
  }
});
