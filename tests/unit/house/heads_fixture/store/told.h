// Opens with a comment, as it should.
#pragma once
