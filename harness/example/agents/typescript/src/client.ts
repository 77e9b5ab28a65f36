// A client that asks once, by the SDK and the API that it is told: for the test of
// the SDKs as they are. usage: client.js SDK PROMPT [stream]

import { createAnthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, streamText } from "ai";
import OpenAI from "openai";

const [sdk, prompt, how] = process.argv.slice(2);
const stream = how === "stream";

async function anthropic(): Promise<string> {
  const params = { model: "any", max_tokens: 64, messages: [{ role: "user" as const, content: prompt }] };
  const client = new Anthropic();
  const message = stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params);
  return message.content.map((b) => (b.type === "text" ? b.text : "")).join("");
}

async function chat(): Promise<string> {
  const params = { model: "any", messages: [{ role: "user" as const, content: prompt }] };
  const client = new OpenAI();
  if (!stream) {
    return (await client.chat.completions.create(params)).choices[0].message.content ?? "";
  }
  let text = "";
  for await (const chunk of await client.chat.completions.create({ ...params, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? "";
  }
  return text;
}

async function responses(): Promise<string> {
  const params = { model: "any", input: prompt };
  const client = new OpenAI();
  if (!stream) {
    return (await client.responses.create(params)).output_text;
  }
  let text = "";
  for await (const event of await client.responses.create({ ...params, stream: true })) {
    if (event.type === "response.output_text.delta") {
      text += event.delta;
    }
  }
  return text;
}

async function vercel(model: Parameters<typeof generateText>[0]["model"]): Promise<string> {
  if (!stream) {
    return (await generateText({ model, prompt })).text;
  }
  let failed: unknown;
  const result = streamText({ model, prompt, onError: ({ error }) => void (failed = error) });
  let text = "";
  for await (const part of result.textStream) {
    text += part;
  }
  if (failed) {
    throw failed;
  }
  return text;
}

const sdks: Record<string, () => Promise<string>> = {
  anthropic,
  "openai chat": chat,
  "openai responses": responses,
  "vercel openai": () => vercel(openai("any")),
  // This provider wants the version in its address, which Anthropic's SDKs append.
  "vercel anthropic": () => vercel(createAnthropic({ baseURL: process.env.ANTHROPIC_BASE_URL + "/v1" })("any")),
};

try {
  console.log("said: " + (await sdks[sdk]()));
} catch (e) {
  console.log("failed: " + e);
  process.exit(1);
}
