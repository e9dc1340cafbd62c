//go:build browser

package browser

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Charts are drawn in both themes, each with the colours of the theme, and each has its table.
func TestChartsAreDrawnInBothThemes(t *testing.T) {
	startDev(t)
	b := openTab(t)
	b.logIn("demo", "demo")
	for _, theme := range []string{"light", "dark"} {
		media := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
					Value: theme}}})
			return err
		})
		b.do(theme, media, chromedp.Navigate(home+"/dev/components"), visible(`.chart.drawn canvas`))
		require.True(t, ask[bool](b, `[...document.querySelectorAll("figure.chart:has(.plot)")].every((f) => f.querySelector("canvas").width > 100 && f.querySelectorAll("details tbody tr").length > 0)`), theme)
		require.True(t, ask[bool](b, `[...document.querySelectorAll("figure.chart canvas")].every((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v !== 0))`), theme)
	}
}
