// SPDX-License-Identifier: MIT

package clusterd

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// itemFeatures is how many features an item of an import has.
const itemFeatures = 2000

type object = map[string]any

// Check returns whether the daemon serves.
func (c *Client) Check(ctx context.Context) (bool, error) {
	answer, err := get[struct{ Status string }](ctx, c, "ServerService/Check", nil)
	return err == nil && answer.Status == "SERVING", err
}

// CreateSource makes a source. It fails with AlreadyExists if there is one of this name. Options may be nil.
func (c *Client) CreateSource(ctx context.Context, source string, options map[string]any) (*Description, error) {
	params := object{"source": source}
	if options != nil {
		params["options"] = options
	}
	return get[Description](ctx, c, "SourceService/CreateSource", params)
}

// EnsureSource makes a source, or gives the one that exists these options; nil leaves them.
func (c *Client) EnsureSource(ctx context.Context, source string, options map[string]any) error {
	_, err := c.ensure(ctx, source, options)
	return err
}

// ensure returns whether the source is new.
func (c *Client) ensure(ctx context.Context, source string, options map[string]any) (bool, error) {
	_, err := c.CreateSource(ctx, source, options)
	if CodeOf(err) != AlreadyExists {
		return err == nil, err
	}
	if options == nil {
		return false, nil
	}
	_, err = c.UpdateOptions(ctx, source, options)
	return false, err
}

// ImportOptions say how features are imported. The zero value replaces all and rejects invalid features.
type ImportOptions struct {
	// Append keeps the features that the source has.
	Append bool
	// SkipInvalid leaves out invalid features instead of failing.
	SkipInvalid bool
	// SourceOptions, if not nil, make the source as EnsureSource does. A new source is deleted again if the import fails.
	SourceOptions map[string]any
}

// ImportFeatures imports the features that next returns until io.EOF: all or nothing.
func (c *Client) ImportFeatures(
	ctx context.Context, source string, next func() (Feature, error), options ImportOptions,
) (*Description, error) {
	params := object{"source": source, "mode": "replace", "onInvalid": "reject"}
	if options.Append {
		params["mode"] = "append"
	}
	if options.SkipInvalid {
		params["onInvalid"] = "skip"
	}
	isNew := false
	if options.SourceOptions != nil {
		var err error
		if isNew, err = c.ensure(ctx, source, options.SourceOptions); err != nil {
			return nil, err
		}
	}
	var description Description
	items := func() (any, error) { return nextItem(next) }
	err := c.SendAll(ctx, "SourceService/ImportFeatures", params, items, &description)
	if err != nil && isNew {
		// The context may be what has ended the import.
		cleanup, cancel := context.WithTimeout(context.Background(), cleanupTime)
		defer cancel()
		_ = c.DeleteSource(cleanup, source)
	}
	return &description, err
}

// cleanupTime is how long the deletion of a source may take whose import failed.
const cleanupTime = 5 * time.Second

func nextItem(next func() (Feature, error)) (any, error) {
	var features []Feature
	for len(features) < itemFeatures {
		feature, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		features = append(features, feature)
	}
	if len(features) == 0 {
		return nil, io.EOF
	}
	return object{"features": features}, nil
}

// Each returns a function that gives the features of a slice, for ImportFeatures.
func Each(features []Feature) func() (Feature, error) {
	return func() (Feature, error) {
		if len(features) == 0 {
			return Feature{}, io.EOF
		}
		feature := features[0]
		features = features[1:]
		return feature, nil
	}
}

// Features calls yield with each feature of a source in the form in which it was sent, all of one revision. It stops at an error of
// yield and returns it.
func (c *Client) Features(ctx context.Context, source string, filter any, yield func(Feature) error) error {
	params := object{"source": source}
	if filter != nil {
		params["filter"] = filter
	}
	stream, err := c.Stream(ctx, "SourceService/GetFeatures", params)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		text, err := stream.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var page struct{ Features []Feature }
		if err := json.Unmarshal(text, &page); err != nil {
			return violation("%v", err)
		}
		for _, feature := range page.Features {
			if err := yield(feature); err != nil {
				return err
			}
		}
	}
}

// LoadFile lets the daemon read a file below one of its import directories.
func (c *Client) LoadFile(ctx context.Context, source, path string) (*Description, error) {
	return get[Description](ctx, c, "SourceService/LoadFile", object{"source": source, "path": path})
}

// UpdateFeatures puts in or replaces features by id, and removes others by their ids.
func (c *Client) UpdateFeatures(ctx context.Context, source string, upsert []Feature, remove []any) (*Description, error) {
	params := object{"source": source}
	if len(upsert) > 0 {
		params["upsert"] = upsert
	}
	if len(remove) > 0 {
		params["remove"] = remove
	}
	return get[Description](ctx, c, "SourceService/UpdateFeatures", params)
}

// UpdateOptions gives a source other options: the complete set.
func (c *Client) UpdateOptions(ctx context.Context, source string, options map[string]any) (*Description, error) {
	return get[Description](ctx, c, "SourceService/UpdateOptions", object{"source": source, "options": options})
}

// Source describes a source.
func (c *Client) Source(ctx context.Context, source string) (*Description, error) {
	return get[Description](ctx, c, "SourceService/GetSource", object{"source": source})
}

// Sources describes all sources, by name.
func (c *Client) Sources(ctx context.Context) ([]Description, error) {
	answer, err := get[struct{ Sources []Description }](ctx, c, "SourceService/ListSources", nil)
	if err != nil {
		return nil, err
	}
	return answer.Sources, nil
}

// DeleteSource deletes a source and its data.
func (c *Client) DeleteSource(ctx context.Context, source string) error {
	return c.Call(ctx, "SourceService/DeleteSource", object{"source": source}, nil)
}

// Evaluate returns the value of an expression for a feature, which may be nil.
func (c *Client) Evaluate(ctx context.Context, expression any, feature *Feature) (json.RawMessage, error) {
	params := object{"expression": expression}
	if feature != nil {
		params["feature"] = feature
	}
	answer, err := get[struct{ Value json.RawMessage }](ctx, c, "SourceService/EvaluateExpression", params)
	if err != nil {
		return nil, err
	}
	return answer.Value, nil
}
