/** The error event of a stream that weir passed on and that broke off. */
import { expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";

const error = new GatewayError("upstream", "The stream ended before its end.", { code: "stream_incomplete" });

const eventOf = (broken?: Parameters<typeof responsesFormat.client.encodeStreamError>[3]) =>
  JSON.parse(responsesFormat.client.encodeStreamError(error, "req_1", false, broken)[0]!.data) as {
    sequence_number: number;
    response: { id: string; status: string };
  };

test("it has the id of the answer, and the number behind that of the last event", () => {
  const last = { event: "response.output_text.delta", data: '{"sequence_number":6,"delta":"x"}' };
  const { sequence_number, response } = eventOf({ answerId: "resp_up", last });
  expect([sequence_number, response.id, response.status]).toEqual([7, "resp_up", "failed"]);
});

test("it has an id of weir and the number 0 where nothing is known", () => {
  const unknown = { last: { data: "[DONE]" } };
  for (const broken of [undefined, {}, unknown]) {
    const { sequence_number, response } = eventOf(broken);
    expect([sequence_number, response.id.slice(0, 7)]).toEqual([0, "resp_w1"]);
  }
});
