// An agent with a loop of its own over the Anthropic SDK's streams, as one writes
// it in an afternoon, with the SDK's default settings. It knows nothing of retake:
// the SDK takes its address and key from the environment.

import Anthropic from "@anthropic-ai/sdk";
import { event, remind, system, weather } from "./desk.js";

const text = (description: string) => ({ type: "string", description });

const tools: Anthropic.Tool[] = [
  {
    name: "get_calendar_event",
    description: "Find the next event in the user's calendar that matches a query.",
    input_schema: { type: "object", properties: { query: text("Words that the event's title contains") }, required: ["query"] },
  },
  {
    name: "get_weather",
    description: "Get the forecast for one city on one day.",
    input_schema: {
      type: "object",
      properties: { city: text("City with country, such as London, UK"), date: text("Day, as YYYY-MM-DD") },
      required: ["city", "date"],
    },
  },
  {
    name: "set_reminder",
    description: "Set a reminder for the user.",
    input_schema: {
      type: "object",
      properties: { text: text("What to think of"), at: text("When, as YYYY-MM-DDTHH:MM") },
      required: ["text", "at"],
    },
  },
];

function run(name: string, input: any): string {
  switch (name) {
    case "get_calendar_event":
      return event(input.query);
    case "get_weather":
      return weather(input.city, input.date);
    case "set_reminder":
      return remind(input.text, input.at);
  }
  throw new Error(`unknown tool ${name}`);
}

function result(call: Anthropic.ToolUseBlock): Anthropic.ToolResultBlockParam {
  try {
    return { type: "tool_result", tool_use_id: call.id, content: run(call.name, call.input) };
  } catch (e) {
    return { type: "tool_result", tool_use_id: call.id, content: String(e), is_error: true };
  }
}

async function agent(task: string): Promise<string> {
  const client = new Anthropic();
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
  for (;;) {
    const message = await client.messages
      .stream({ model: "claude-opus-4-8", max_tokens: 1024, system, tools, messages })
      .finalMessage();
    messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter((b) => b.type === "tool_use");
    if (calls.length === 0) {
      return message.content.map((b) => (b.type === "text" ? b.text : "")).join("");
    }
    messages.push({ role: "user", content: calls.map(result) });
  }
}

console.log(await agent(process.argv.slice(2).join(" ")));
