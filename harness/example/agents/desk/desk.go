// Package desk is what the agents in Go can look up and do: a calendar, a weather
// forecast and a list of reminders, as pure functions. The agents in other
// languages have the same in their own words.
package desk

import (
	"fmt"
	"strings"
)

// System is what the agents are told to be.
const System = "You help a person to get to their appointments dry. Look things up before you answer; never guess. Set a reminder when they have to take something with them."

// Event finds the next event of the calendar that has the words in its title.
func Event(query string) (string, error) {
	if !strings.Contains(strings.ToLower(query), "planning") {
		return "", fmt.Errorf("no event matches %q in /home/me/calendar.ics", query)
	}
	return `{"title":"Planning meeting","start":"2026-07-14T15:00:00+01:00","location":"Canary Wharf, London"}`, nil
}

// Weather is the forecast for a city on a day.
func Weather(city, date string) (string, error) {
	if !strings.Contains(strings.ToLower(city), "london") || date == "" {
		return "", fmt.Errorf("no station near %q", city)
	}
	return `{"condition":"rain","temperature_c":12}`, nil
}

// Remind sets a reminder.
func Remind(text, at string) (string, error) {
	if text == "" || at == "" {
		return "", fmt.Errorf("a reminder needs a text and a time")
	}
	return `{"ok":true,"reminder":"R-1"}`, nil
}
