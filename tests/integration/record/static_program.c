/* Has no loader that could bring a library into it. */
#include <stdio.h>

int main(void) {
  puts("static");
  return 33;
}
