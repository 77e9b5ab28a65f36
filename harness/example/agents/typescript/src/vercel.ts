// An agent made of the Vercel AI SDK's generateText, which loops by itself, with
// its default settings and OpenAI's provider (which speaks the Responses API). It
// knows nothing of retake: the provider takes its address and key from the
// environment.

import { openai } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { event, remind, system, weather } from "./desk.js";

const { text } = await generateText({
  model: openai("gpt-5.5"),
  system,
  prompt: process.argv.slice(2).join(" "),
  stopWhen: stepCountIs(10),
  tools: {
    get_calendar_event: tool({
      description: "Find the next event in the user's calendar that matches a query.",
      inputSchema: z.object({ query: z.string().describe("Words that the event's title contains") }),
      execute: async ({ query }) => event(query),
    }),
    get_weather: tool({
      description: "Get the forecast for one city on one day.",
      inputSchema: z.object({
        city: z.string().describe("City with country, such as London, UK"),
        date: z.string().describe("Day, as YYYY-MM-DD"),
      }),
      execute: async ({ city, date }) => weather(city, date),
    }),
    set_reminder: tool({
      description: "Set a reminder for the user.",
      inputSchema: z.object({
        text: z.string().describe("What to think of"),
        at: z.string().describe("When, as YYYY-MM-DDTHH:MM"),
      }),
      execute: async ({ text, at }) => remind(text, at),
    }),
  },
});
console.log(text);
