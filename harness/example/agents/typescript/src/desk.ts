// What the agents can look up and do: the same as package desk of the agents in Go.

export const system =
  "You help a person to get to their appointments dry. Look things up before you answer; never guess. Set a reminder when they have to take something with them.";

export function event(query: string): string {
  if (!query.toLowerCase().includes("planning")) {
    throw new Error(`no event matches ${query} in /home/me/calendar.ics`);
  }
  return '{"title":"Planning meeting","start":"2026-07-14T15:00:00+01:00","location":"Canary Wharf, London"}';
}

export function weather(city: string, date: string): string {
  if (!city.toLowerCase().includes("london") || !date) {
    throw new Error(`no station near ${city}`);
  }
  return '{"condition":"rain","temperature_c":12}';
}

export function remind(text: string, at: string): string {
  if (!text || !at) {
    throw new Error("a reminder needs a text and a time");
  }
  return '{"ok":true,"reminder":"R-1"}';
}
