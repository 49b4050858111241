"""`python -m swinscope …` and the command `swinscope` are the program itself."""
import os
import sys

from swinscope._program import PROGRAM


def main():
    os.execv(PROGRAM, [PROGRAM] + sys.argv[1:])


if __name__ == "__main__":
    main()
