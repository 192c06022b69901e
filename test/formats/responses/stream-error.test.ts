/** The last events of a stream that weir passed on and that failed. */
import { expect, test } from "bun:test";
import type { BrokenStream } from "../../../src/core/format.ts";
import { GatewayError } from "../../../src/core/error.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";

const error = new GatewayError("upstream", "The stream ended before its end.", { code: "stream_incomplete" });

interface Event {
  type: string;
  sequence_number: number;
  response: { id: string; status: string; model: string; created_at: number };
}

const eventsOf = (broken?: BrokenStream) =>
  responsesFormat.client.codec
    .encodeStreamError(error, "req_1", false, broken)
    .map(({ data }) => JSON.parse(data) as Event);

test("the failed answer is the one that began, and its numbers are behind that of the last event", () => {
  const last = { event: "response.output_text.delta", data: '{"sequence_number":6,"delta":"x"}' };
  const begun = { id: "resp_up", model: "gpt-up", created_at: 17 };
  const [failed, told] = eventsOf({ begun, last });
  expect(failed).toMatchObject({
    ...{ type: "response.failed", sequence_number: 7 },
    response: { ...begun, status: "failed", error: { code: "server_error", message: error.message } },
  });
  expect(told).toMatchObject({
    ...{ type: "error", sequence_number: 8, code: "server_error", message: error.message, param: null },
    error: { type: "server_error", code: "server_error", message: error.message, param: null },
  });
});

test("it has an id of weir and the number 0 where nothing is known", () => {
  const unknown = { last: { data: "[DONE]" } };
  for (const broken of [undefined, {}, unknown]) {
    const [{ sequence_number, response }] = eventsOf(broken) as [Event];
    expect([sequence_number, response.id.slice(0, 7)]).toEqual([0, "resp_w1"]);
  }
});

test("behind the provider's own response.failed comes the event error alone", () => {
  const last = { data: '{"type":"response.failed","sequence_number":6}' };
  expect(eventsOf({ last })).toMatchObject([{ type: "error", sequence_number: 7 }]);
});
