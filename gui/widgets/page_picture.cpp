#include "gui/widgets/page_picture.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QWidget>

#include "gui/widgets/theme.h"

namespace swinscope::gui {
namespace {

constexpr int kMargin = 8;
constexpr int kTitlePixels = 17;
constexpr int kOfPixels = 12;
constexpr int kHead = kTitlePixels + kOfPixels + 3 * kMargin;  // height of what stands above the page

QByteArray png(const QImage& image) {
  QBuffer file;
  file.open(QIODevice::WriteOnly);
  image.save(&file, "PNG");
  return file.data();
}

QImage page_image(QWidget& page, double scale) {
  QImage image(page.size() * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(page.palette().color(QPalette::Window));
  page.render(&image);
  return image;
}

QFont font_of(const QWidget& page, int pixels, bool is_bold) {
  QFont font = page.font();
  font.setPixelSize(pixels);
  font.setBold(is_bold);
  return font;
}

}  // namespace

QByteArray picture_as_png(QWidget& page, const PictureTitle& title) {
  const double scale = page.devicePixelRatioF();
  QImage whole(QSize(page.width(), page.height() + kHead) * scale, QImage::Format_RGB32);
  whole.setDevicePixelRatio(scale);
  whole.fill(page.palette().color(QPalette::Window));
  QPainter painter(&whole);
  painter.setPen(colors_of(page.palette()).ink);
  painter.setFont(font_of(page, kTitlePixels, true));
  painter.drawText(QPoint(kMargin, kMargin + kTitlePixels), title.title);
  painter.setPen(colors_of(page.palette()).muted);
  painter.setFont(font_of(page, kOfPixels, false));
  painter.drawText(QPoint(kMargin, 2 * kMargin + kTitlePixels + kOfPixels), title.of);
  painter.drawImage(QPoint(0, kHead), page_image(page, scale));
  painter.end();
  return png(whole);
}

QByteArray picture_as_svg(QWidget& page, const PictureTitle& title) {
  constexpr double kScale = 2;
  const Colors colors = colors_of(page.palette());
  const auto text = [](int y, int size, const QString& weight, const QColor& color, const QString& said) {
    return QStringLiteral(
               "<text x=\"%1\" y=\"%2\" font-family=\"sans-serif\" font-size=\"%3\" font-weight=\"%4\" "
               "fill=\"%5\">%6</text>\n")
        .arg(kMargin)
        .arg(y)
        .arg(size)
        .arg(weight, color.name(), said.toHtmlEscaped());
  };
  QString svg =
      QStringLiteral(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%1\" height=\"%2\" "
          "viewBox=\"0 0 %1 %2\">\n<title>%3</title>\n<desc>%4</desc>\n"
          "<rect width=\"%1\" height=\"%2\" fill=\"%5\"/>\n")
          .arg(page.width())
          .arg(page.height() + kHead)
          .arg(title.title.toHtmlEscaped(), title.of.toHtmlEscaped(), page.palette().color(QPalette::Window).name());
  svg += text(kMargin + kTitlePixels, kTitlePixels, QStringLiteral("bold"), colors.ink, title.title);
  svg += text(2 * kMargin + kTitlePixels + kOfPixels, kOfPixels, QStringLiteral("normal"), colors.muted, title.of);
  svg +=
      QStringLiteral("<image x=\"0\" y=\"%1\" width=\"%2\" height=\"%3\" href=\"data:image/png;base64,%4\"/>\n</svg>\n")
          .arg(kHead)
          .arg(page.width())
          .arg(page.height())
          .arg(QString::fromLatin1(png(page_image(page, kScale)).toBase64()));
  return svg.toUtf8();
}

}  // namespace swinscope::gui
