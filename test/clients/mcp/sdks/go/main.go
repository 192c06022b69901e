// The Go library, both eras. `serve PORT FILE` or `call URL MARK`; test/clients/README.md says what they do.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func text(words string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}
}

type echoInput struct {
	Text string `json:"text"`
}
type countInput struct {
	To int `json:"to"`
}
type slowInput struct {
	Mark string `json:"mark"`
}

func makeServer(cancelled string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "go", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echoInput) (*mcp.CallToolResult, any, error) {
		return text("echo: " + in.Text), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("it failed")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "count"}, func(ctx context.Context, req *mcp.CallToolRequest, in countInput) (*mcp.CallToolResult, any, error) {
		for step := 1; step <= in.To; step++ {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(),
				Progress:      float64(step),
				Total:         float64(in.To),
			})
			if err != nil {
				return nil, nil, err
			}
		}
		return text("counted"), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		answer, ok := req.Params.InputResponses["who"].(*mcp.ElicitResult)
		if ok {
			return text(fmt.Sprintf("hello %v", answer.Content["name"])), nil, nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"who": &mcp.ElicitParams{
			Message: "Who are you?",
			RequestedSchema: &jsonschema.Schema{
				Type:       "object",
				Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}},
				Required:   []string{"name"},
			},
		}}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, in slowInput) (*mcp.CallToolResult, any, error) {
		select {
		case <-time.After(30 * time.Second):
			return text("slept"), nil, nil
		case <-ctx.Done():
			file, err := os.OpenFile(cancelled, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, nil, err
			}
			defer file.Close()
			fmt.Fprintln(file, in.Mark, time.Now().UnixMilli())
			return nil, nil, ctx.Err()
		}
	})
	return server
}

func serve(port, cancelled string) error {
	server := makeServer(cancelled)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	return http.ListenAndServe("127.0.0.1:"+port, handler)
}

func textOf(result *mcp.CallToolResult) string {
	if len(result.Content) > 0 {
		if said, ok := result.Content[0].(*mcp.TextContent); ok {
			return said.Text
		}
	}
	return fmt.Sprintf("%+v", result)
}

func check(name string, run func() (string, error)) {
	saw, err := run()
	if err != nil {
		saw = err.Error()
	}
	line, _ := json.Marshal(map[string]any{"check": name, "ok": err == nil && saw == "", "saw": saw})
	fmt.Println(string(line))
}

// unless says what was seen if it is not what was wanted.
func unless(wanted, saw string) string {
	if saw == wanted {
		return ""
	}
	return saw
}

func call(url, mark string) error {
	ctx := context.Background()
	var lock sync.Mutex
	var steps []string
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Anna"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			lock.Lock()
			defer lock.Unlock()
			steps = append(steps, fmt.Sprintf("%v/%v", req.Params.Progress, req.Params.Total))
		},
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	fmt.Printf("{\"version\":%q}\n", session.InitializeResult().ProtocolVersion)
	tool := func(ctx context.Context, name string, arguments map[string]any, token any) (*mcp.CallToolResult, error) {
		params := &mcp.CallToolParams{Name: name, Arguments: arguments}
		if token != nil {
			params.SetProgressToken(token)
		}
		return session.CallTool(ctx, params)
	}
	check("list", func() (string, error) {
		list, err := session.ListTools(ctx, nil)
		if err != nil {
			return "", err
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		sort.Strings(names)
		return unless("ask,count,echo,fail,slow", strings.Join(names, ",")), nil
	})
	check("call", func() (string, error) {
		result, err := tool(ctx, "echo", map[string]any{"text": "ü " + mark}, nil)
		if err != nil {
			return "", err
		}
		return unless("echo: ü "+mark, textOf(result)), nil
	})
	check("progress", func() (string, error) {
		result, err := tool(ctx, "count", map[string]any{"to": 3}, "count")
		if err != nil {
			return "", err
		}
		// The library hands notifications over beside the result.
		time.Sleep(200 * time.Millisecond)
		lock.Lock()
		defer lock.Unlock()
		return unless("1/3,2/3,3/3 counted", strings.Join(steps, ",")+" "+textOf(result)), nil
	})
	check("elicitation", func() (string, error) {
		result, err := tool(ctx, "ask", map[string]any{}, nil)
		if err != nil {
			return "", err
		}
		return unless("hello Anna", textOf(result)), nil
	})
	check("cancel", func() (string, error) {
		brief, stop := context.WithTimeout(ctx, 500*time.Millisecond)
		defer stop()
		result, err := tool(brief, "slow", map[string]any{"mark": mark}, nil)
		if err == nil {
			return "", fmt.Errorf("ended before it was cancelled: %s", textOf(result))
		}
		if brief.Err() == nil {
			return "", err
		}
		return "", nil
	})
	// The server must notice that while the client is still there.
	fmt.Printf("{\"cancelled\":%d}\n", time.Now().UnixMilli())
	time.Sleep(1200 * time.Millisecond)
	check("error", func() (string, error) {
		result, err := tool(ctx, "fail", map[string]any{}, nil)
		if err != nil {
			return "", err
		}
		if result.IsError && strings.Contains(textOf(result), "it failed") {
			return "", nil
		}
		return textOf(result), nil
	})
	return nil
}

func main() {
	var err error
	if os.Args[1] == "serve" {
		err = serve(os.Args[2], os.Args[3])
	} else {
		err = call(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
