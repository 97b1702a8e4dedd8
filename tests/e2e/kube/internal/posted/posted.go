// Package posted sends JSON to what is tested.
package posted

import (
	"fmt"
	"io"
	"net/http"
)

// Answer sends a request whose body is JSON, and returns what the answer says. A status other than 200 is an error.
func Answer(client *http.Client, request *http.Request) ([]byte, error) {
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", request.URL.Path, response.Status, text)
	}
	return text, nil
}
