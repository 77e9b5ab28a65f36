package shop

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/retake-harness/retake/harness/tool"
)

// tools tells the SDK of the declared tools.
func tools(decls []tool.Decl) []anthropic.ToolUnionParam {
	out := make([]anthropic.ToolUnionParam, len(decls))
	for i, d := range decls {
		var schema anthropic.ToolInputSchemaParam
		if err := json.Unmarshal(d.Input, &schema); err != nil {
			panic("the harness has compiled this schema: " + err.Error())
		}
		out[i] = anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: d.Name, Description: anthropic.String(d.Description), InputSchema: schema,
		}}
	}
	return out
}
